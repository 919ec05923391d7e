import { parseFolderPath, type SearchMatch } from "@thinkery/sdk";
import { z } from "zod";
import { defineFileTool } from "./file-tool.ts";
import { limitLines, formatCount, createMissingError } from "./format.ts";

const maxMatches = 200;
const maxContextLines = 10;

export const grep = defineFileTool(
  {
    name: "grep",
    description:
      "Search file contents with a JavaScript regular expression, in a folder or file (`path`) and files matching `glob`, with `context` lines around matches.",
    inputSchema: z.object({
      pattern: z.string(),
      path: z.string().optional(),
      glob: z.string().optional(),
      ignoreCase: z.boolean().optional(),
      context: z.number().optional(),
    }),
    action: "search",
    idempotent: true,
    parallel: true,
    summarize: (output) => formatCount(String(output).split("\n").length, "line"),
  },
  async ({ pattern, path = "", glob, ignoreCase, context }, { files, shell }) => {
    const under = parseFolderPath(path);
    if (under !== undefined && !(await files.stat(under)) && (await files.list({ under })).length === 0) {
      throw await createMissingError(files, under);
    }
    const { found, more } = await shell.search({
      pattern,
      limit: maxMatches,
      ...(under === undefined ? {} : { under }),
      ...(glob ? { glob } : {}),
      ...(ignoreCase === undefined ? {} : { ignoreCase }),
      ...(context ? { context: Math.min(maxContextLines, Math.max(0, Math.floor(context))) } : {}),
    });
    if (found.length === 0) return "No lines match.";
    const rest = "[more matches; use a narrower pattern, path or glob]";
    const shown = limitLines(groupByPath(found), Number.POSITIVE_INFINITY, () => rest);
    return more && !shown.endsWith(rest) ? `${shown}\n${rest}` : shown;
  },
);

/** Lists each path once with its lines below it; context lines are marked with a dash. */
function groupByPath(found: readonly SearchMatch[]): string[] {
  const hasContext = found.some(({ near }) => near);
  const lines: string[] = [];
  let last: SearchMatch | undefined;
  for (const match of found) {
    const { path, line, text, near } = match;
    if (path !== last?.path) lines.push(path);
    else if (hasContext && line > last.line + 1) lines.push("…");
    last = match;
    lines.push(`${line}${near ? "-" : ""}\t${text}`);
  }
  return lines;
}
