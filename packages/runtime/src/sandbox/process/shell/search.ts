import type { SearchMatch } from "@thinkery/sdk";
import { Glob } from "@thinkery/sdk/internal";
import { maxPathChars } from "../../bounds.ts";
import type { SearchJob, SearchOutcome, ShellHost } from "../../shell.ts";
import type { FileBody } from "./file-body.ts";
import { iterateFiles, type Folder, splitPath, Tree } from "./tree.ts";

/** Length of a shown line, and size of files that are searched. */
const maxLineChars = 500;
const maxFileBytes = 8 * 1024 * 1024;

interface SearchOptions {
  job: Omit<SearchJob, "agent" | "view">;
  work: Folder;
  host: ShellHost;
  onFetched?(body: FileBody): void;
}

/** Finds lines that match a pattern. One that never terminates takes down only this sandbox process. */
export async function search({
  job: { pattern, under, glob, ignoreCase, context = 0, limit },
  work,
  host,
  onFetched,
}: SearchOptions): Promise<SearchOutcome> {
  let expression: RegExp;
  let filter: Glob | undefined;
  try {
    expression = new RegExp(pattern, ignoreCase ? "i" : "");
    filter = glob === undefined ? undefined : new Glob(glob);
  } catch (error) {
    return { ok: false, kind: "syntax", message: (error as Error).message.slice(0, 1000) };
  }
  const found: SearchMatch[] = [];
  let left = limit;
  const prefilter = canPrefilter(pattern) ? new RegExp(pattern, ignoreCase ? "im" : "m") : undefined;
  for (const [path, body] of listFilesUnder(work, under)) {
    if (body.isBinary || path.length > maxPathChars || body.size > maxFileBytes || (filter && !filter.matches(path)))
      continue;
    if (!body.isLoaded) {
      const content = await host.read(path).catch(() => undefined);
      if (content === undefined) continue;
      await body.load(async () => content);
      onFetched?.(body);
    }
    const text = getText(body);
    if (text === undefined || (prefilter && !prefilter.test(text))) continue;
    const lines = text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
    // There is no line after the last line ending.
    if (lines.at(-1) === "") lines.pop();
    const matches = findMatches(lines, expression, left + 1);
    const hasMore = matches.length > left;
    found.push(...addContext(path, lines, matches.slice(0, left), context));
    if (hasMore) return { ok: true, found, more: true };
    left -= matches.length;
  }
  return { ok: true, found, more: false };
}

/**
 * Returns whether files can be skipped by testing their whole text first. Not with negative lookarounds, which may match
 * a line but not the whole text; nor if the pattern matches across line endings (“[^"]*x”), which may scan the rest of the
 * file from each position.
 */
function canPrefilter(pattern: string): boolean {
  return !/\(\?<?!|\(\?[a-z]*s|\[\^|\\[DSW]/.test(pattern);
}

interface LineMatch {
  index: number;
  /** The column. */
  at: number;
}

function findMatches(lines: readonly string[], expression: RegExp, limit: number): LineMatch[] {
  const matches: LineMatch[] = [];
  for (const [index, line] of lines.entries()) {
    const at = line.search(expression);
    if (at >= 0 && matches.push({ index, at }) >= limit) break;
  }
  return matches;
}

/** Adds the lines around matches, each line only once. */
function addContext(
  path: string,
  lines: readonly string[],
  matches: readonly LineMatch[],
  context: number,
): SearchMatch[] {
  const found: SearchMatch[] = [];
  let next = 0;
  const addLines = (from: number, to: number) => {
    for (next = Math.max(next, from); next < to; next += 1)
      found.push({ path, line: next + 1, text: truncateAround(lines[next] as string, 0), near: true });
  };
  for (const [order, { index, at }] of matches.entries()) {
    addLines(index - context, index);
    found.push({ path, line: index + 1, text: truncateAround(lines[index] as string, at) });
    next = index + 1;
    addLines(next, Math.min(index + context + 1, matches[order + 1]?.index ?? lines.length));
  }
  return found;
}

function* listFilesUnder(work: Folder, under = ""): Generator<[string, FileBody]> {
  const names = splitPath(under);
  const entry = new Tree(work).find(names);
  const path = names.join("/");
  if (entry?.kind === "file") yield [path, entry.body];
  if (entry?.kind === "folder")
    for (const [inside, { body }] of iterateFiles(entry, path && `${path}/`)) yield [inside, body];
}

function getText(body: FileBody): string | undefined {
  const content = body.content();
  return typeof content === "string" ? content : undefined;
}

/** Truncates a long line around a column. */
function truncateAround(line: string, at: number): string {
  if (line.length <= maxLineChars) return line.toWellFormed();
  const from = Math.max(0, Math.min(at - 100, line.length - maxLineChars));
  return `${from > 0 ? "…" : ""}${line.slice(from, from + maxLineChars)}${from + maxLineChars < line.length ? "…" : ""}`.toWellFormed();
}
