import type { Files, NewEvent, Origin } from "@thinkery/sdk";
import type { LinuxFiles } from "../../sandbox/linux-files.ts";
import { getMaxFileBytes } from "../../workspace/quota.ts";
import type { WorkspacePort } from "../../workspace/workspace-port.ts";

interface CallFilesOptions {
  /** The origin of the call's changes. */
  origin: Origin;
  /** The branch that the agent works on. */
  branch?: string | undefined;
  signal: AbortSignal;
  record(...events: NewEvent[]): void;
}

/**
 * Creates one call's access to the workspace. Commits have the call as their origin and are recorded with its events.
 */
export function createFiles(
  workspace: WorkspacePort,
  { origin, branch: defaultBranch, signal, record }: CallFilesOptions,
): Files {
  return {
    list: async ({ under, branch = defaultBranch } = {}) => (await workspace.list({ under, branch })).files,
    stat: (path, { branch = defaultBranch } = {}) => workspace.stat(path, { branch }),
    read: (path, { branch = defaultBranch } = {}) => workspace.read(path, { branch }),
    readBytes: (content, path) => workspace.readBytes(content, path),
    store: (content, path) => workspace.store(content, path),
    async commit(edits, { branch = defaultBranch, expected, seen } = {}) {
      // Nobody learns of the effects of an aborted call, so it must not have any.
      signal.throwIfAborted();
      return workspace.commit({ edits, origin, branch, expected, seen }, { record });
    },
    markSeen: (path, hash, { branch = defaultBranch } = {}) => workspace.markSeen(path, hash, branch),
  };
}

/** The same for the Linux sandbox, whose commands work on a copy. */
export function createLinuxFiles(
  workspace: WorkspacePort,
  { origin, branch, signal, record }: CallFilesOptions,
): LinuxFiles {
  return {
    maxFileBytes: getMaxFileBytes(workspace.limits),
    getVersion: () => workspace.latest(branch),
    listFiles: async () => (await workspace.list({ branch })).files,
    async readContent(path) {
      const found = await workspace.read(path, { branch });
      return found && workspace.readBytes(found.content, path);
    },
    store: (content, path) => workspace.store(content, path),
    // What a command did before it was canceled is still committed. The turn no longer records events by then, but the
    // workspace writes them to the agent's log.
    rebaseEdits: (edits, base) => workspace.commit({ edits, origin, branch, base }, signal.aborted ? {} : { record }),
  };
}
