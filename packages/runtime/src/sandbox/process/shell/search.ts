import { longestPath } from "../../bounds.ts";
import { Glob } from "../../../workspace/text/glob.ts";
import type { SearchJob, SearchOutcome, ShellHost } from "../../shell.ts";
import type { Body } from "./body.ts";
import { filesIn, type Folder, namesOf, Tree } from "./tree.ts";

/** So much of a line is shown, and of a file that large nothing is looked at. */
const longestLine = 500;
const largestFile = 8 * 1024 * 1024;

interface SearchOptions {
  job: Omit<SearchJob, "agent" | "view">;
  work: Folder;
  host: ShellHost;
  onFetched?(body: Body): void;
}

/** Lines that a pattern is found in, file by file. A pattern that never ends takes this isolate's process with it, and nothing else. */
export async function search({ job: { pattern, under, glob, ignoreCase, limit }, work, host, onFetched }: SearchOptions): Promise<SearchOutcome> {
  let expression: RegExp;
  let wanted: Glob | undefined;
  try {
    expression = new RegExp(pattern, ignoreCase ? "i" : "");
    wanted = glob === undefined ? undefined : new Glob(glob);
  } catch (error) {
    return { ok: false, kind: "syntax", message: (error as Error).message.slice(0, 1000) };
  }
  const found: { path: string; line: number; text: string }[] = [];
  // Where no part of a pattern says what must not follow, a file that it is nowhere in has no line with it either.
  const quick = /\(\?<?!/.test(pattern) ? undefined : new RegExp(pattern, ignoreCase ? "im" : "m");
  for (const [path, body] of filesUnder(work, under)) {
    if (body.isBinary || path.length > longestPath || body.size > largestFile || (wanted && !wanted.matches(path))) continue;
    if (!body.isHere) {
      const content = await host.read(path).catch(() => undefined);
      if (content === undefined) continue;
      await body.fetch(async () => content);
      onFetched?.(body);
    }
    const text = textOf(body);
    if (text === undefined || (quick && !quick.test(text))) continue;
    for (const [index, line] of text.split("\n").entries()) {
      const shown = line.endsWith("\r") ? line.slice(0, -1) : line;
      const at = shown.search(expression);
      if (at < 0) continue;
      if (found.length >= limit) return { ok: true, found, more: true };
      found.push({ path, line: index + 1, text: around(shown, at) });
    }
  }
  return { ok: true, found, more: false };
}

function* filesUnder(work: Folder, under = ""): Generator<[string, Body]> {
  const names = namesOf(under);
  const entry = new Tree(work).find(names);
  const path = names.join("/");
  if (entry?.kind === "file") yield [path, entry.body];
  if (entry?.kind === "folder") for (const [inside, { body }] of filesIn(entry, path && `${path}/`)) yield [inside, body];
}

function textOf(body: Body): string | undefined {
  const content = body.content();
  return typeof content === "string" ? content : undefined;
}

/** A long line is shown from a little before the place. */
function around(line: string, at: number): string {
  if (line.length <= longestLine) return line.toWellFormed();
  const from = Math.max(0, Math.min(at - 100, line.length - longestLine));
  return `${from > 0 ? "…" : ""}${line.slice(from, from + longestLine)}${from + longestLine < line.length ? "…" : ""}`.toWellFormed();
}
