import { type FileContent, type Overlap, pathLimits } from "@thinkery/sdk";
import { isSameContent } from "./content.ts";
import { mergeText } from "./text/merge.ts";

export interface ThreeWayMerge {
  path: string;
  /** The common ancestor. */
  base: FileContent | undefined;
  /** The current content. */
  mine: FileContent | undefined;
  /** The content to merge in. */
  theirs: FileContent | undefined;
}

export interface MergeOptions {
  /** Names of both sides in conflict markers and messages. */
  names: { mine: string; theirs: string };
  /** Restores a file that `mine` deleted and `theirs` changed. */
  restoresDeleted: boolean;
  /** Returns a free path for a conflict copy of this file. */
  findConflictPath(path: string): string;
}

export interface MergeResult {
  /** The merged content; absent if the file stays as it is. */
  merged?: { content: FileContent | undefined };
  /** The other side's content, to be stored under another path. */
  conflictCopy?: { path: string; content: FileContent };
  overlaps: Overlap[];
}

/** Merges one file. Keeps both sides, in one file if possible. */
export function mergeThreeWay(
  { path, base, mine, theirs }: ThreeWayMerge,
  { names, restoresDeleted, findConflictPath }: MergeOptions,
): MergeResult {
  if (isSameContent(base, theirs) || isSameContent(mine, theirs)) return { overlaps: [] };
  if (isSameContent(mine, base)) return { merged: { content: theirs }, overlaps: [] };
  if (theirs === undefined)
    return { overlaps: [{ path, reason: `Not deleted, because it was changed by ${names.mine}.` }] };
  if (mine === undefined) {
    if (!restoresDeleted)
      return { overlaps: [{ path, reason: `Not restored, because it was deleted by ${names.mine}.` }] };
    return {
      merged: { content: theirs },
      overlaps: [{ path, reason: `Restored: it was deleted by ${names.mine} and changed by ${names.theirs}.` }],
    };
  }
  if (typeof mine === "string" && typeof theirs === "string" && typeof base !== "object") {
    const { text, overlaps } = mergeText({ base: base ?? "", mine, theirs, names });
    return {
      merged: { content: text },
      overlaps: overlaps.map((overlap) => ({
        path,
        ...overlap,
        reason: "Both sides changed these lines. Both are kept between conflict markers.",
      })),
    };
  }
  const copyPath = findConflictPath(path);
  return {
    conflictCopy: { path: copyPath, content: theirs },
    overlaps: [
      {
        path,
        conflictCopy: copyPath,
        reason: `Both sides changed this file and it cannot be merged. The version from ${names.theirs} is kept as “${copyPath}”.`,
      },
    ],
  };
}

/**
 * Returns a free path for a conflict copy: `logo.png` and `12` become `logo.12.png`. `taken` has the last number of each
 * name in one merge: thousands of long names may be the same once shortened.
 */
export function findConflictPath(
  path: string,
  label: string,
  isFree: (path: string) => boolean,
  taken = new Map<string, number>(),
): string {
  const suffix = label.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 40);
  const at = path.lastIndexOf("/") + 1;
  const [, stem = "", extension = ""] = /^(.+?)(\.[^.]*)?$/s.exec(path.slice(at)) ?? [];
  // A name that would be too long is shortened. If the folder leaves no room for a name, the copy goes to the root.
  const locations = [
    { folder: path.slice(0, at), end: extension },
    { folder: "", end: extension },
    { folder: "", end: "" },
  ];
  for (const { folder, end } of locations) {
    const maxStemBytes = getMaxNameBytes(folder) - countBytes(`.${suffix}-999999${end}`);
    if (maxStemBytes <= 0) continue;
    const start = `${folder}${truncateName(stem, maxStemBytes)}.${suffix}`;
    for (let number = (taken.get(start + end) ?? 0) + 1; ; number++) {
      const candidate = `${start}${number === 1 ? "" : `-${number}`}${end}`;
      if (!isFree(candidate)) continue;
      taken.set(start + end, number);
      return candidate;
    }
  }
  throw new Error("no free path for a conflict copy");
}

const countBytes = (text: string) => Buffer.byteLength(text);

/** Maximum bytes of a file name in this folder. */
const getMaxNameBytes = (folder: string) => Math.min(pathLimits.nameBytes, pathLimits.bytes - countBytes(folder));

function truncateName(name: string, maxBytes: number): string {
  const characters = Array.from(name);
  while (countBytes(characters.join("")) > maxBytes) characters.pop();
  return characters.join("").replace(/(?:\u200c|\u200d|[\ufe00-\ufe0f])+$/, "");
}
