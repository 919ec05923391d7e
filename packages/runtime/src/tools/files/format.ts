import type { FileInfo, Files } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { numberLines } from "../../workspace/text/nearest-lines.ts";
import type { Block } from "../../workspace/text/sequence.ts";
import { createInputError } from "./file-tool.ts";

/** How models are told of files. */

/** Results of more than 50 KB are cut in the middle, so they stay below it. */
export const maxOutputChars = 48_000;
const maxListedFiles = 200;
const maxCompared = 2_000;

/** What a model hears that asked for something there is not. */
export async function createMissingError(files: Files, path: string): Promise<Error> {
  const near = findNearPaths(await files.list(), path);
  return createInputError(
    `There is no “${path}” in the workspace.${near.length > 0 ? ` Did you mean ${near.join(", ")}?` : ""}`,
  );
}

function findNearPaths(files: readonly FileInfo[], path: string): string[] {
  const all = files.map((file) => file.path);
  const name = getBaseName(path).toLowerCase();
  const elsewhere = all.filter((other) => getBaseName(other).toLowerCase() === name);
  if (elsewhere.length > 0) return elsewhere.slice(0, 3);
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const beside = all.filter((other) => other.startsWith(folder));
  for (const some of [beside, all]) {
    const names = new Map(some.slice(0, maxCompared).map((other) => [getBaseName(other), other]));
    const found = findNearest(getBaseName(path), names.keys());
    if (found !== undefined) return [names.get(found) as string];
  }
  return [];
}

function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** All that is in a folder and below it, or if that is too much, what is right in it. */
export function formatListing(all: readonly FileInfo[], folder: string | undefined): string {
  if (all.length === 0) return folder === undefined ? "The workspace has no files yet." : `“${folder}” has no files.`;
  if (all.length <= maxListedFiles)
    return limitLines(all.map(formatLine), maxListedFiles, (left) => `[${left} more; use glob]`);
  const from = folder === undefined ? 0 : folder.length + 1;
  const here: string[] = [];
  const inFolders = new Map<string, number>();
  for (const file of all) {
    const slash = file.path.indexOf("/", from);
    if (slash < 0) here.push(formatLine(file));
    else inFolders.set(file.path.slice(0, slash + 1), (inFolders.get(file.path.slice(0, slash + 1)) ?? 0) + 1);
  }
  const lines = [...[...inFolders].map(([path, count]) => `${path} (${formatCount(count, "file")})`), ...here];
  return limitLines(lines, maxListedFiles, (left) => `[${left} more; use glob]`);
}

/** So many lines, and no more than fit into one result; then what to do about the others. */
export function limitLines(lines: readonly string[], most: number, rest: (left: number) => string): string {
  let room = maxOutputChars;
  let count = 0;
  while (count < Math.min(most, lines.length) && (room -= (lines[count] as string).length + 1) >= 0) count += 1;
  return [...lines.slice(0, count), ...(count < lines.length ? [rest(lines.length - count)] : [])].join("\n");
}

function formatLine({ path, size }: FileInfo): string {
  return `${path} (${formatBytes(size)})`;
}

export function formatCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

export function formatBytes(size: number): string {
  if (size < 1024) return formatCount(size, "byte");
  return size < 1024 * 1024 ? `${(size / 1024).toFixed(1)} KB` : `${(size / 1024 / 1024).toFixed(1)} MB`;
}

/** How many lines came and went. */
export function formatLineCounts(blocks: readonly Block[]): string {
  let [added, removed] = [0, 0];
  for (const { from, to, newFrom, newTo } of blocks) {
    added += newTo - newFrom;
    removed += to - from;
  }
  return `${formatCount(added, "line")} added, ${removed} removed`;
}

/** The lines of a text that are new, with their numbers and some around them. */
export function formatChangedLines(
  text: string,
  blocks: readonly Block[],
  { around, most }: { around: number; most: number },
): string {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const parts: string[] = [];
  let [shown, end] = [0, 0];
  for (const { newFrom, newTo } of blocks) {
    const from = Math.max(end, newFrom - around);
    const to = Math.min(lines.length, newTo + around, from + most - shown);
    if (to <= from) continue;
    if (from > end && parts.length > 0) parts.push("…");
    parts.push(numberLines(lines, from, to));
    shown += to - from;
    end = to;
    if (shown >= most) break;
  }
  return parts.join("\n");
}
