import type { SearchMatch } from "@thinkery/sdk";
import { Glob } from "@thinkery/sdk/internal";
import { maxPathChars } from "../../bounds.ts";
import type { SearchJob, SearchOutcome, ShellHost } from "../../shell.ts";
import type { FileBody } from "./file-body.ts";
import { iterateFiles, type Folder, splitPath, Tree } from "./tree.ts";

/** So much of a line is shown, and of a file that large nothing is looked at. */
const maxLineChars = 500;
const maxFileBytes = 8 * 1024 * 1024;

interface SearchOptions {
  job: Omit<SearchJob, "agent" | "view">;
  work: Folder;
  host: ShellHost;
  onFetched?(body: FileBody): void;
}

/** Lines that a pattern is found in, file by file. A pattern that never ends takes this isolate's process with it, and nothing else. */
export async function search({
  job: { pattern, under, glob, ignoreCase, context = 0, limit },
  work,
  host,
  onFetched,
}: SearchOptions): Promise<SearchOutcome> {
  let expression: RegExp;
  let wanted: Glob | undefined;
  try {
    expression = new RegExp(pattern, ignoreCase ? "i" : "");
    wanted = glob === undefined ? undefined : new Glob(glob);
  } catch (error) {
    return { ok: false, kind: "syntax", message: (error as Error).message.slice(0, 1000) };
  }
  const found: SearchMatch[] = [];
  let left = limit;
  const quick = canPrefilter(pattern) ? new RegExp(pattern, ignoreCase ? "im" : "m") : undefined;
  for (const [path, body] of listFilesUnder(work, under)) {
    if (body.isBinary || path.length > maxPathChars || body.size > maxFileBytes || (wanted && !wanted.matches(path)))
      continue;
    if (!body.isLoaded) {
      const content = await host.read(path).catch(() => undefined);
      if (content === undefined) continue;
      await body.load(async () => content);
      onFetched?.(body);
    }
    const text = getText(body);
    if (text === undefined || (quick && !quick.test(text))) continue;
    const lines = text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
    // Behind the last line end is no line.
    if (lines.at(-1) === "") lines.pop();
    const places = findMatches(lines, expression, left + 1);
    const isMore = places.length > left;
    found.push(...addContext(path, lines, places.slice(0, left), context));
    if (isMore) return { ok: true, found, more: true };
    left -= places.length;
  }
  return { ok: true, found, more: false };
}

/**
 * Where no part of a pattern says what must not follow, a file that it is nowhere in has no line with it either. But one
 * that would go on across line ends (“[^"]*x”) may look at the rest of the file from each place in it.
 */
function canPrefilter(pattern: string): boolean {
  return !/\(\?<?!|\(\?[a-z]*s|\[\^|\\[DSW]/.test(pattern);
}

interface LineMatch {
  index: number;
  /** Where in the line. */
  at: number;
}

function findMatches(lines: readonly string[], expression: RegExp, most: number): LineMatch[] {
  const places: LineMatch[] = [];
  for (const [index, line] of lines.entries()) {
    const at = line.search(expression);
    if (at >= 0 && places.push({ index, at }) >= most) break;
  }
  return places;
}

/** Each line once, however near to each other they are. */
function addContext(
  path: string,
  lines: readonly string[],
  places: readonly LineMatch[],
  context: number,
): SearchMatch[] {
  const found: SearchMatch[] = [];
  let next = 0;
  const near = (from: number, to: number) => {
    for (next = Math.max(next, from); next < to; next += 1)
      found.push({ path, line: next + 1, text: truncateAround(lines[next] as string, 0), near: true });
  };
  for (const [order, { index, at }] of places.entries()) {
    near(index - context, index);
    found.push({ path, line: index + 1, text: truncateAround(lines[index] as string, at) });
    next = index + 1;
    near(next, Math.min(index + context + 1, places[order + 1]?.index ?? lines.length));
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

/** A long line is shown from a little before the place. */
function truncateAround(line: string, at: number): string {
  if (line.length <= maxLineChars) return line.toWellFormed();
  const from = Math.max(0, Math.min(at - 100, line.length - maxLineChars));
  return `${from > 0 ? "…" : ""}${line.slice(from, from + maxLineChars)}${from + maxLineChars < line.length ? "…" : ""}`.toWellFormed();
}
