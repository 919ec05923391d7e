import type { EventData } from "../protocol/event.ts";
import type { Change, Origin } from "../protocol/version.ts";

/** The changes of one version of the workspace. */
export interface FileChanges {
  version: number;
  by: Origin["kind"];
  changes: readonly Change[];
  /** Number of changes that are not listed. */
  more: number;
  /** The branch, if not main. */
  branch?: string;
}

/** The versions that tool calls created, in order, by call id. */
export type ChangesByCall = Readonly<Record<string, readonly FileChanges[]>>;

/** More than anyone looks through. Bounds the memory of the page if code writes files in a loop. */
const maxChanges = 200;

export function toFileChanges({ version, changes, more = 0, origin }: EventData["files.changed"]): FileChanges {
  return { version, by: origin.kind, changes, more, ...(origin.branch === undefined ? {} : { branch: origin.branch }) };
}

/** Adds a version in its place. A version may arrive twice, live and from the log. */
export function addChange(all: ChangesByCall, callId: string, added: FileChanges): ChangesByCall {
  const others = (all[callId] ?? []).filter(({ version }) => version !== added.version);
  const place = others.findLastIndex(({ version }) => version < added.version) + 1;
  return { ...all, [callId]: [...others.slice(0, place), added, ...others.slice(place)].slice(-maxChanges) };
}
