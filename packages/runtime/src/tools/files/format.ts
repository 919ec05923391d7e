import type { FileInfo, Files } from "@thinkery/sdk";
import { findSimilarPaths } from "../../workspace/similar-paths.ts";
import { numberLines } from "../../workspace/text/nearest-lines.ts";
import type { Block } from "../../workspace/text/sequence.ts";
import { createInputError } from "./file-tool.ts";

// How file tools present files to models.

/** Below the 50 KB from which results are truncated in the middle. */
export const maxOutputChars = 48_000;
const maxListedFiles = 200;

/** Creates the error for a missing file, with similar paths as suggestions. */
export async function createMissingError(files: Files, path: string): Promise<Error> {
  const similar = findSimilarPaths(
    (await files.list()).map((file) => file.path),
    path,
  );
  return createInputError(
    `There is no “${path}” in the workspace.${similar.length > 0 ? ` Did you mean ${similar.join(", ")}?` : ""}`,
  );
}

/** Lists all files in a folder and its subfolders or, if there are too many, only its direct children. */
export function formatListing(files: readonly FileInfo[], folder: string | undefined): string {
  if (files.length === 0) return folder === undefined ? "The workspace has no files yet." : `“${folder}” has no files.`;
  if (files.length <= maxListedFiles)
    return limitLines(files.map(formatLine), maxListedFiles, (omitted) => `[${omitted} more; use glob]`);
  const from = folder === undefined ? 0 : folder.length + 1;
  const directFiles: string[] = [];
  const folderCounts = new Map<string, number>();
  for (const file of files) {
    const slash = file.path.indexOf("/", from);
    const subfolder = file.path.slice(0, slash + 1);
    if (slash < 0) directFiles.push(formatLine(file));
    else folderCounts.set(subfolder, (folderCounts.get(subfolder) ?? 0) + 1);
  }
  const lines = [
    ...[...folderCounts].map(([path, count]) => `${path} (${formatCount(count, "file")})`),
    ...directFiles,
  ];
  return limitLines(lines, maxListedFiles, (omitted) => `[${omitted} more; use glob]`);
}

/** Joins at most `maxLines` lines that fit into one result; `formatRest` describes the number of omitted ones. */
export function limitLines(
  lines: readonly string[],
  maxLines: number,
  formatRest: (omitted: number) => string,
): string {
  let remainingChars = maxOutputChars;
  let count = 0;
  while (count < Math.min(maxLines, lines.length) && (remainingChars -= (lines[count] as string).length + 1) >= 0)
    count += 1;
  return [...lines.slice(0, count), ...(count < lines.length ? [formatRest(lines.length - count)] : [])].join("\n");
}

function formatLine({ path, size }: FileInfo): string {
  return `${path} (${formatBytes(size)})`;
}

export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function formatBytes(size: number): string {
  if (size < 1024) return formatCount(size, "byte");
  return size < 1024 * 1024 ? `${(size / 1024).toFixed(1)} KB` : `${(size / 1024 / 1024).toFixed(1)} MB`;
}

export function formatLineCounts(blocks: readonly Block[]): string {
  let [added, removed] = [0, 0];
  for (const { from, to, newFrom, newTo } of blocks) {
    added += newTo - newFrom;
    removed += to - from;
  }
  return `${formatCount(added, "line")} added, ${removed} removed`;
}

/** Formats the changed lines of a text with line numbers and surrounding context. */
export function formatChangedLines(
  text: string,
  blocks: readonly Block[],
  { contextLines, maxLines }: { contextLines: number; maxLines: number },
): string {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  const parts: string[] = [];
  let [shown, end] = [0, 0];
  for (const { newFrom, newTo } of blocks) {
    const from = Math.max(end, newFrom - contextLines);
    const to = Math.min(lines.length, newTo + contextLines, from + maxLines - shown);
    if (to <= from) continue;
    if (from > end && parts.length > 0) parts.push("…");
    parts.push(numberLines(lines, from, to));
    shown += to - from;
    end = to;
    if (shown >= maxLines) break;
  }
  return parts.join("\n");
}
