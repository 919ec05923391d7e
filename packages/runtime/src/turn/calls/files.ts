import type { Files, NewEvent, Origin } from "@thinkery/sdk";
import type { LinuxFiles } from "../../sandbox/linux-files.ts";
import { getMaxFileBytes } from "../../workspace/quota.ts";
import type { WorkspacePort } from "../../workspace/workspace-port.ts";

interface CallFilesOptions {
  /** Who changes what the call changes. */
  origin: Origin;
  /** The branch that the agent works on. */
  branch?: string | undefined;
  signal: AbortSignal;
  record(...events: NewEvent[]): void;
}

/** Creates the workspace as one call has it: the call is the origin of its commits, and their events are among its own. */
export function createFiles(
  workspace: WorkspacePort,
  { origin, branch: own, signal, record }: CallFilesOptions,
): Files {
  return {
    list: async ({ under, branch = own } = {}) => (await workspace.list({ under, branch })).files,
    stat: (path, { branch = own } = {}) => workspace.stat(path, { branch }),
    read: (path, { branch = own } = {}) => workspace.read(path, { branch }),
    readBytes: (content, path) => workspace.readBytes(content, path),
    store: (content, path) => workspace.store(content, path),
    async commit(edits, { branch = own, expected, seen } = {}) {
      // Nobody hears of a call that was given up, so it must not have effects any more.
      signal.throwIfAborted();
      return workspace.commit({ edits, origin, branch, expected, seen }, { record });
    },
    markSeen: (path, hash, { branch = own } = {}) => workspace.markSeen(path, hash, branch),
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
    // What a command did before it was canceled is done. The turn hears of nothing by then, but the agent's log does.
    rebaseEdits: (edits, base) => workspace.commit({ edits, origin, branch, base }, signal.aborted ? {} : { record }),
  };
}
