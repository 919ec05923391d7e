import { folderPath } from "@thinkery/sdk";
import { z } from "zod";
import { fileTool } from "./file-tool.ts";
import { bounded, counted, missing } from "./shown.ts";

const mostFound = 200;

export const grep = fileTool(
  {
    name: "grep",
    description: "Find lines of files by a JavaScript regular expression, in a folder or file (`path`), in files like `glob`.",
    input: z.object({ pattern: z.string(), path: z.string().optional(), glob: z.string().optional(), ignoreCase: z.boolean().optional() }),
    action: "search",
    repeatable: true,
    independent: true,
    summarize: (output) => counted(String(output).split("\n").length, "line"),
  },
  async ({ pattern, path = "", glob, ignoreCase }, { files, shell }) => {
    const under = folderPath(path);
    if (under !== undefined && !files.stat(under) && files.list(under).length === 0) throw missing(files, under);
    const { found, more } = await shell.search({
      pattern,
      limit: mostFound,
      ...(under === undefined ? {} : { under }),
      ...(glob === undefined ? {} : { glob }),
      ...(ignoreCase === undefined ? {} : { ignoreCase }),
    });
    if (found.length === 0) return "No line is like that.";
    const rest = "[there are more; use a narrower pattern, path or glob]";
    const shown = bounded(grouped(found), Number.POSITIVE_INFINITY, () => rest);
    return more && !shown.endsWith(rest) ? `${shown}\n${rest}` : shown;
  },
);

/** Each path once, its lines below it. */
function grouped(found: readonly { path: string; line: number; text: string }[]): string[] {
  const lines: string[] = [];
  let last: string | undefined;
  for (const { path, line, text } of found) {
    if (path !== last) lines.push(path);
    last = path;
    lines.push(`${line}\t${text}`);
  }
  return lines;
}
