import type { Files, NewEvent, Origin } from "@thinkery/sdk";
import type { LinuxFiles } from "../../sandbox/linux-files.ts";
import { largestFile } from "../../workspace/quota.ts";
import type { Workspace } from "../../workspace/workspace.ts";

interface Call {
  /** Who changes what it changes. */
  origin: Origin;
  signal: AbortSignal;
  record(...events: NewEvent[]): void;
}

/** The workspace as one call has it: what is changed has that call as its origin, and is told of among its facts. */
export function filesFor(workspace: Workspace, { origin, signal, record }: Call): Files {
  return {
    list: (under) => workspace.list({ under }).files,
    stat: (path) => workspace.stat(path),
    content: (path) => workspace.content(path),
    text: (path) => workspace.text(path),
    bytes: (path) => workspace.bytes(path),
    keep: (content, path) => workspace.keep(content, path),
    commit(edits) {
      // Nobody hears a call any more that was given up, and what nobody hears of is not to be done.
      signal.throwIfAborted();
      return workspace.commit(edits, origin, { record });
    },
    seen: (path) => workspace.seen(path),
    see: (path) => workspace.see(path),
  };
}

/** The same for the Linux sandbox, whose commands work on a copy. */
export function linuxFilesFor(workspace: Workspace, { origin, signal, record }: Call): LinuxFiles {
  return {
    largest: largestFile(workspace.limits),
    version: () => workspace.latest(),
    files: () => workspace.list().files,
    content: (path) => workspace.bytes(path),
    keep: (content, path) => workspace.keep(content, path),
    // What a command did before it was canceled is done. The turn hears of nothing any more by then, but the agent does.
    land: (edits, base) => workspace.land(edits, base, origin, signal.aborted ? {} : { record }),
  };
}
