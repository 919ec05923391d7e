import type { EventData } from "../protocol/event.ts";
import type { Change, Origin } from "../protocol/version.ts";

/** What became of the workspace in one version. */
export interface FileChanges {
  version: number;
  by: Origin["kind"];
  changes: readonly Change[];
  /** How many changes are not listed. */
  more: number;
  /** Where, if not on main. */
  branch?: string;
}

/** The versions that calls have made, by the call and in order. */
export type ChangesByCall = Readonly<Record<string, readonly FileChanges[]>>;

/** More than anybody looks through; code in a loop shall not fill the page's memory. */
const maxChanges = 200;

export function toFileChanges({ version, changes, more = 0, origin }: EventData["files.changed"]): FileChanges {
  return { version, by: origin.kind, changes, more, ...(origin.branch === undefined ? {} : { branch: origin.branch }) };
}

/** A version may be told twice, as it happened and from the log. */
export function addChange(all: ChangesByCall, callId: string, changed: FileChanges): ChangesByCall {
  const others = (all[callId] ?? []).filter(({ version }) => version !== changed.version);
  const place = others.findLastIndex(({ version }) => version < changed.version) + 1;
  return { ...all, [callId]: [...others.slice(0, place), changed, ...others.slice(place)].slice(-maxChanges) };
}
