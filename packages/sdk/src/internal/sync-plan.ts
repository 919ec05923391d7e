import { listParentFolders } from "../protocol/file-path.ts";

/**
 * Computes what changed between two states of a set of files, and which changes make two sides equal. `files sync`, the
 * Linux working copy and the shell's view share it; they only read and write files, each in its own way.
 */

/**
 * Files by path, each with an identity: a hash, or an object that is never modified. Two files with the same identity
 * have the same content. A path with the identity undefined has no file.
 */
export type FileIndex<Id> = ReadonlyMap<string, Id | undefined>;

/** What changed from one state of the files to a later one. */
export class FileDiff<Id> {
  /** Files that were added or edited, as they are now. */
  readonly written = new Map<string, Id>();
  /** Those of them that existed before. */
  readonly edited = new Set<string>();
  /** Files that are gone, as they were. */
  readonly deleted = new Map<string, Id>();
  readonly #isSame: (before: Id, after: Id) => boolean;

  constructor(isSame: (before: Id, after: Id) => boolean = Object.is) {
    this.#isSame = isSame;
  }

  get size(): number {
    return this.written.size + this.deleted.size;
  }

  has(path: string): boolean {
    return this.written.has(path) || this.deleted.has(path);
  }

  /** Compares one file and returns whether it changed. Files that are known to be unchanged need not be recorded. */
  record(path: string, before: Id | undefined, after: Id | undefined): boolean {
    if (after === undefined) {
      if (before !== undefined) this.deleted.set(path, before);
      return before !== undefined;
    }
    if (before !== undefined && this.#isSame(before, after)) return false;
    this.written.set(path, after);
    if (before !== undefined) this.edited.add(path);
    return true;
  }
}

/**
 * Finds files that were deleted in one place and added in another with the same content, and returns the new path by
 * the old one. Apply the other deletions first, then the moves in any order, then all other writes.
 */
export function detectMoves<Id>(diff: FileDiff<Id>, identify: (file: Id) => unknown = (id) => id): Map<string, string> {
  const { written, edited, deleted } = diff;
  const sources = new Map<unknown, string[]>();
  const emptied = new Set<string>();
  for (const [path, file] of deleted) {
    const id = identify(file);
    const paths = sources.get(id);
    if (paths) paths.push(path);
    else sources.set(id, [path]);
    for (const folder of listParentFolders(path)) emptied.add(folder);
  }
  const moves = new Map<string, string>();
  if (sources.size === 0) return moves;
  for (const [path, file] of written) {
    if (edited.has(path)) continue;
    // A file cannot replace a folder, nor a folder a file, while the old one may still exist.
    if (emptied.has(path) || listParentFolders(path).some((folder) => deleted.has(folder))) continue;
    const from = takeLikeliest(path, sources.get(identify(file)) ?? []);
    if (from !== undefined) moves.set(from, path);
  }
  return moves;
}

/** Removes the likeliest candidate and returns it: preferably a file with the same name. */
function takeLikeliest(path: string, candidates: string[]): string | undefined {
  const name = getName(path);
  const namesake = candidates.findIndex((candidate) => getName(candidate) === name);
  return candidates.splice(Math.max(namesake, 0), 1)[0];
}

function getName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Two sides with the same files, and what both had when they were last equal. */
export interface SyncSides<Id> {
  base: FileIndex<Id>;
  here: FileIndex<Id>;
  there: FileIndex<Id>;
}

/**
 * - `fetch`, `send`: one side changed the file, and the other gets it
 * - `removeHere`, `removeThere`: one side deleted it, and the other did not change it
 * - `conflict`: the sides changed it differently
 */
export type SyncAction = "fetch" | "send" | "removeHere" | "removeThere" | "conflict";

export type SyncStep = { path: string; action: SyncAction } | { path: string; action: "moveThere"; from: string };

export interface SyncPlan {
  /** Files that are equal on both sides, or deleted on both. */
  agreed: string[];
  steps: { path: string; action: SyncAction }[];
  skipped: string[];
}

/** Plans what makes both sides equal. Nothing is planned for files whose state on one side is unknown. */
export function planSync<Id>({ base, here, there }: SyncSides<Id>, isUnknown: (path: string) => boolean): SyncPlan {
  const plan: SyncPlan = { agreed: [], steps: [], skipped: [] };
  for (const path of new Set([...there.keys(), ...here.keys(), ...base.keys()])) {
    if (isUnknown(path)) {
      plan.skipped.push(path);
      continue;
    }
    const action = chooseAction(base.get(path), here.get(path), there.get(path));
    if (action === "agreed") plan.agreed.push(path);
    else plan.steps.push({ path, action });
  }
  return plan;
}

function chooseAction<Id>(base: Id | undefined, here: Id | undefined, there: Id | undefined): SyncAction | "agreed" {
  if (here === there) return "agreed";
  if (here === base) return there === undefined ? "removeHere" : "fetch";
  if (there === base) return here === undefined ? "removeThere" : "send";
  // If one side deleted the file and the other changed it, the change wins.
  if (here === undefined) return "fetch";
  return there === undefined ? "send" : "conflict";
}

/** Combines removing a file there and sending it to another path into a move, which keeps its history. */
export function combineMoves<Id>(steps: SyncPlan["steps"], { here, there }: Omit<SyncSides<Id>, "base">): SyncStep[] {
  const outgoing = new FileDiff<Id>();
  for (const { path, action } of steps) {
    if (action === "send" || action === "removeThere") outgoing.record(path, there.get(path), here.get(path));
  }
  const moves = detectMoves(outgoing);
  const origins = new Map([...moves].map(([from, to]) => [to, from]));
  return steps.flatMap((step): SyncStep[] => {
    if (moves.has(step.path)) return [];
    const from = origins.get(step.path);
    return [from === undefined ? step : { path: step.path, action: "moveThere", from }];
  });
}

/** Counts the files to be removed from each side that the other side does not have under another name either. */
export function countVanished<Id>(steps: readonly SyncStep[], { here, there }: Omit<SyncSides<Id>, "base">) {
  const count = (action: SyncAction, from: FileIndex<Id>, other: FileIndex<Id>) => {
    const ids = new Set(other.values());
    return steps.filter((step) => step.action === action && !ids.has(from.get(step.path))).length;
  };
  return { here: count("removeHere", here, there), there: count("removeThere", there, here) };
}
