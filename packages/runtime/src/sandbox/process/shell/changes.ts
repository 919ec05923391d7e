import { foldersOf } from "@thinkery/sdk";
import { longestPath } from "../../bounds.ts";
import type { ShellChange } from "../../shell.ts";
import type { Body, Source } from "./body.ts";
import { filesIn, type Entry, type File, type Folder } from "./tree.ts";

/** What became of one tree, told as changes to another that it was made from. Only what is not the same object is looked at. */

export interface Difference {
  written: Map<string, File>;
  /** Those of them that were there before with something else in them. */
  edited: Set<string>;
  deleted: Map<string, File>;
  /** Folders with nothing in them. */
  folders: string[];
  links: string[];
}

export function differenceOf(before: Folder | undefined, after: Folder | undefined): Difference {
  const difference: Difference = { written: new Map(), edited: new Set(), deleted: new Map(), folders: [], links: [] };
  if (before !== after) compare(before, after, "", difference);
  return difference;
}

function compare(before: Folder | undefined, after: Folder | undefined, under: string, difference: Difference): void {
  for (const [name, was] of before?.entries ?? []) {
    const is = after?.entries.get(name);
    if (was !== is) replaced(was, is, under + name, difference);
  }
  for (const [name, is] of after?.entries ?? []) {
    if (!before?.entries.has(name)) replaced(undefined, is, under + name, difference);
  }
  if (after && under !== "" && after.entries.size === 0) difference.folders.push(under.slice(0, -1));
}

function replaced(was: Entry | undefined, is: Entry | undefined, path: string, difference: Difference): void {
  if (is?.kind === "link") difference.links.push(path);
  if (was?.kind === "file" && is?.kind === "file") {
    if (was.body.isSameAs(is.body)) return;
    difference.written.set(path, is);
    difference.edited.add(path);
    return;
  }
  if (was?.kind === "folder" && is?.kind === "folder") return compare(was, is, `${path}/`, difference);
  if (was?.kind === "file") difference.deleted.set(path, was);
  if (was?.kind === "folder") for (const [inside, file] of filesIn(was, `${path}/`)) difference.deleted.set(inside, file);
  if (is?.kind === "file") difference.written.set(path, is);
  if (is?.kind === "folder") compare(undefined, is, `${path}/`, difference);
}

/** More than this cannot be handed over at once. */
export class TooMuch extends Error {}

interface Most {
  changes: number;
  bytes: number;
}

/** Deletions first, then what was moved, then what was written: in this order each can be done. */
export async function changesOf(difference: Difference, source: Source, most: Most): Promise<ShellChange[]> {
  const { written, deleted } = difference;
  if (written.size + deleted.size > most.changes) throw new TooMuch(`It changed ${written.size + deleted.size} files; a command may change ${most.changes}.`);
  for (const path of written.keys()) if (path.length > longestPath) throw new TooMuch(`A path of it is too long: “${path.slice(0, 100)}…”.`);
  const moves = movesOf(difference);
  const changes: ShellChange[] = [];
  for (const path of deleted.keys()) if (!moves.has(path)) changes.push({ delete: path });
  const targets = new Set(moves.values());
  for (const [move, to] of moves) changes.push({ move, to });
  let bytes = 0;
  for (const [path, { body }] of written) {
    if (targets.has(path)) continue;
    bytes += body.size;
    if (bytes > most.bytes) throw new TooMuch(`It wrote more than ${Math.floor(most.bytes / 1024 / 1024)} MB.`);
    await body.fetch(source);
    changes.push({ write: path, content: body.content() });
  }
  return changes;
}

/** By where they were: files that are gone from one place and have come to another, with nothing in the way there. */
function movesOf({ written, edited, deleted }: Difference): Map<string, string> {
  const from = new Map<Body, string>();
  const emptied = new Set<string>();
  for (const [path, { body }] of deleted) {
    from.set(body, path);
    for (const folder of foldersOf(path)) emptied.add(folder);
  }
  const moves = new Map<string, string>();
  for (const [path, { body }] of written) {
    const was = from.get(body);
    if (was === undefined || edited.has(path) || deleted.has(path) || moves.has(was)) continue;
    // A folder cannot come where a file was, nor a file where a folder was, before that is gone.
    if (emptied.has(path) || foldersOf(path).some((folder) => deleted.has(folder))) continue;
    moves.set(was, path);
  }
  return moves;
}
