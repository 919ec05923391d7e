import { type FileContent, type Overlap, pathLimits } from "@thinkery/sdk";
import { isSameContent } from "./content.ts";
import { mergeText } from "./text/merge.ts";

export interface ThreeWayMerge {
  path: string;
  /** What both began with. */
  base: FileContent | undefined;
  /** What is there now. */
  mine: FileContent | undefined;
  /** What it should become. */
  theirs: FileContent | undefined;
}

export interface MergeOptions {
  /** How the two are called where both are kept. */
  names: { mine: string; theirs: string };
  /** Does a file come back that was deleted here and changed there? */
  restoresDeleted: boolean;
  /** A free path beside another. */
  findConflictPath(path: string): string;
}

export interface MergeResult {
  /** What the path is to be; absent where it stays as it is. */
  becomes?: { content: FileContent | undefined };
  /** What is put beside it. */
  conflictCopy?: { path: string; content: FileContent };
  overlaps: Overlap[];
}

/** One file that two have changed: both survive, together where that can be. */
export function mergeThreeWay(
  { path, base, mine, theirs }: ThreeWayMerge,
  { names, restoresDeleted, findConflictPath }: MergeOptions,
): MergeResult {
  if (isSameContent(base, theirs) || isSameContent(mine, theirs)) return { overlaps: [] };
  if (isSameContent(mine, base)) return { becomes: { content: theirs }, overlaps: [] };
  if (theirs === undefined)
    return { overlaps: [{ path, reason: `It would be deleted, but has been changed by ${names.mine}. It stays.` }] };
  if (mine === undefined) {
    if (!restoresDeleted)
      return { overlaps: [{ path, reason: `It has been deleted by ${names.mine}, and stays so.` }] };
    return {
      becomes: { content: theirs },
      overlaps: [
        { path, reason: `It has been deleted by ${names.mine} and changed by ${names.theirs}. It is there again.` },
      ],
    };
  }
  if (typeof mine === "string" && typeof theirs === "string" && typeof base !== "object") {
    const { text, overlaps } = mergeText({ base: base ?? "", mine, theirs, names });
    return {
      becomes: { content: text },
      overlaps: overlaps.map((overlap) => ({
        path,
        ...overlap,
        reason: "Both have changed these lines. Both are kept, between markers.",
      })),
    };
  }
  const kept = findConflictPath(path);
  return {
    conflictCopy: { path: kept, content: theirs },
    overlaps: [
      {
        path,
        kept,
        reason: `Both have changed it, and it cannot be merged. What ${names.theirs} made of it is beside it.`,
      },
    ],
  };
}

/** `logo.png` and 12 are `logo.12.png`; whatever is there already is left alone. */
export function findConflictPath(path: string, whose: string, isFree: (path: string) => boolean): string {
  const word = whose.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 40);
  const at = path.lastIndexOf("/") + 1;
  const [, stem = "", ending = ""] = /^(.+?)(\.[^.]*)?$/s.exec(path.slice(at)) ?? [];
  // Where there is no room for a longer name, it becomes shorter, and in the longest of folders it is put outside of them.
  const places = [
    { folder: path.slice(0, at), end: ending },
    { folder: "", end: ending },
    { folder: "", end: "" },
  ];
  for (const { folder, end } of places) {
    const room = getMaxNameBytes(folder) - countBytes(`.${word}-999999${end}`);
    for (let number = 1; room > 0; number++) {
      const candidate = `${folder}${truncateName(stem, room)}.${number === 1 ? word : `${word}-${number}`}${end}`;
      if (isFree(candidate)) return candidate;
    }
  }
  throw new Error("there is no room for a name");
}

const countBytes = (text: string) => Buffer.byteLength(text);

/** How many bytes a name may have in a folder. */
const getMaxNameBytes = (folder: string) => Math.min(pathLimits.nameBytes, pathLimits.bytes - countBytes(folder));

function truncateName(name: string, most: number): string {
  const characters = Array.from(name);
  while (countBytes(characters.join("")) > most) characters.pop();
  return characters.join("").replace(/(?:\u200c|\u200d|[\ufe00-\ufe0f])+$/, "");
}
