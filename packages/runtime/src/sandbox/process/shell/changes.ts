import { detectMoves, FileDiff } from "@thinkery/sdk/internal";
import { maxPathChars } from "../../bounds.ts";
import type { ShellChange } from "../../shell.ts";
import type { ContentSource } from "./file-body.ts";
import { iterateFiles, type Entry, type File, type Folder } from "./tree.ts";

/** What changed from one tree to another that was made from it. */
export class TreeDiff extends FileDiff<File> {
  /** Empty folders. */
  readonly folders: string[] = [];
  readonly links: string[] = [];

  constructor() {
    super((before, after) => before.body.isSameAs(after.body));
  }
}

/** Looks only at what is not the same object in both trees. */
export function diffTrees(before: Folder | undefined, after: Folder | undefined): TreeDiff {
  const diff = new TreeDiff();
  if (before !== after) compareFolders(before, after, "", diff);
  return diff;
}

function compareFolders(before: Folder | undefined, after: Folder | undefined, under: string, diff: TreeDiff): void {
  for (const [name, was] of before?.entries ?? []) {
    const is = after?.entries.get(name);
    if (was !== is) compareEntries(was, is, under + name, diff);
  }
  for (const [name, is] of after?.entries ?? []) {
    if (!before?.entries.has(name)) compareEntries(undefined, is, under + name, diff);
  }
  if (after && under !== "" && after.entries.size === 0) diff.folders.push(under.slice(0, -1));
}

function compareEntries(was: Entry | undefined, is: Entry | undefined, path: string, diff: TreeDiff): void {
  diff.record(path, toFile(was), toFile(is));
  if (is?.kind === "link") diff.links.push(path);
  if (is?.kind === "folder") return compareFolders(was?.kind === "folder" ? was : undefined, is, `${path}/`, diff);
  if (was?.kind !== "folder") return;
  for (const [inside, file] of iterateFiles(was, `${path}/`)) diff.record(inside, file, undefined);
}

function toFile(entry: Entry | undefined): File | undefined {
  return entry?.kind === "file" ? entry : undefined;
}

/** More than this cannot be handed over at once. */
export class TooManyChangesError extends Error {}

interface ChangeLimits {
  changes: number;
  bytes: number;
}

/** Deletions first, then what was moved, then what was written: in this order each can be done. */
export async function listChanges(diff: TreeDiff, source: ContentSource, most: ChangeLimits): Promise<ShellChange[]> {
  const { written, deleted, size } = diff;
  if (size > most.changes)
    throw new TooManyChangesError(`It changed ${size} files; a command may change ${most.changes}.`);
  const tooLong = [...written.keys()].find((path) => path.length > maxPathChars);
  if (tooLong !== undefined) throw new TooManyChangesError(`A path of it is too long: “${tooLong.slice(0, 100)}…”.`);
  const moves = detectMoves(diff, ({ body }) => body);
  const changes: ShellChange[] = [];
  for (const path of deleted.keys()) if (!moves.has(path)) changes.push({ delete: path });
  const targets = new Set(moves.values());
  for (const [move, to] of moves) changes.push({ move, to });
  let bytes = 0;
  for (const [path, { body }] of written) {
    if (targets.has(path)) continue;
    bytes += body.size;
    if (bytes > most.bytes)
      throw new TooManyChangesError(`It wrote more than ${Math.floor(most.bytes / 1024 / 1024)} MB.`);
    await body.load(source);
    changes.push({ write: path, content: body.content() });
  }
  return changes;
}
