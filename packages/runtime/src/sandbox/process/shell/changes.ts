import { detectMoves, FileDiff } from "@thinkery/sdk/internal";
import { maxPathChars } from "../../bounds.ts";
import type { ShellChange } from "../../shell.ts";
import type { ContentSource } from "./file-body.ts";
import { iterateFiles, type Entry, type File, type Folder } from "./tree.ts";

/** The differences between a tree and another one derived from it. */
export class TreeDiff extends FileDiff<File> {
  /** Empty folders. */
  readonly folders: string[] = [];
  readonly links: string[] = [];

  constructor() {
    super((before, after) => before.body.isSameAs(after.body));
  }
}

/** Compares two trees, skipping everything that is the same object in both. */
export function diffTrees(before: Folder | undefined, after: Folder | undefined): TreeDiff {
  const diff = new TreeDiff();
  if (before !== after) compareFolders(before, after, "", diff);
  return diff;
}

function compareFolders(before: Folder | undefined, after: Folder | undefined, under: string, diff: TreeDiff): void {
  for (const [name, oldEntry] of before?.entries ?? []) {
    const newEntry = after?.entries.get(name);
    if (oldEntry !== newEntry) compareEntries(oldEntry, newEntry, under + name, diff);
  }
  for (const [name, newEntry] of after?.entries ?? []) {
    if (!before?.entries.has(name)) compareEntries(undefined, newEntry, under + name, diff);
  }
  if (after && under !== "" && after.entries.size === 0) diff.folders.push(under.slice(0, -1));
}

function compareEntries(before: Entry | undefined, after: Entry | undefined, path: string, diff: TreeDiff): void {
  diff.record(path, toFile(before), toFile(after));
  if (after?.kind === "link") diff.links.push(path);
  if (after?.kind === "folder")
    return compareFolders(before?.kind === "folder" ? before : undefined, after, `${path}/`, diff);
  if (before?.kind !== "folder") return;
  for (const [inside, file] of iterateFiles(before, `${path}/`)) diff.record(inside, file, undefined);
}

function toFile(entry: Entry | undefined): File | undefined {
  return entry?.kind === "file" ? entry : undefined;
}

/** Thrown if a command changed more than can be returned at once. */
export class TooManyChangesError extends Error {}

interface ChangeLimits {
  changes: number;
  bytes: number;
}

/** Lists deletions, then moves, then writes: in this order each can be applied. */
export async function listChanges(diff: TreeDiff, source: ContentSource, limits: ChangeLimits): Promise<ShellChange[]> {
  const { written, deleted, size } = diff;
  if (size > limits.changes) throw new TooManyChangesError(`It changed ${size} files; the limit is ${limits.changes}.`);
  const tooLong = [...written.keys()].find((path) => path.length > maxPathChars);
  if (tooLong !== undefined) throw new TooManyChangesError(`A path is too long: “${tooLong.slice(0, 100)}…”.`);
  const moves = detectMoves(diff, ({ body }) => body);
  const changes: ShellChange[] = [];
  for (const path of deleted.keys()) if (!moves.has(path)) changes.push({ delete: path });
  const targets = new Set(moves.values());
  for (const [move, to] of moves) changes.push({ move, to });
  let bytes = 0;
  for (const [path, { body }] of written) {
    if (targets.has(path)) continue;
    bytes += body.size;
    if (bytes > limits.bytes)
      throw new TooManyChangesError(`It wrote more than ${Math.floor(limits.bytes / 1024 / 1024)} MB.`);
    await body.load(source);
    changes.push({ write: path, content: body.content() });
  }
  return changes;
}
