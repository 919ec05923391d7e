import { Glob } from "@thinkery/sdk/internal";
import { z } from "zod";
import { defineFileTool } from "./file-tool.ts";
import { limitLines, formatCount } from "./format.ts";

const maxPaths = 1_000;

export const glob = defineFileTool(
  {
    name: "glob",
    description: "Find files by name: `*.ts` in any folder, `src/**/*.{js,ts}`.",
    inputSchema: z.object({ pattern: z.string() }),
    action: "find",
    idempotent: true,
    parallel: true,
    local: true,
    summarize: (output) => formatCount(String(output).split("\n").length, "line"),
  },
  async ({ pattern }, { files }) => {
    const matcher = new Glob(pattern);
    const found = (await files.list()).filter(({ path }) => matcher.matches(path));
    if (found.length === 0) return "No files match.";
    return limitLines(
      found.map(({ path }) => path),
      maxPaths,
      (omitted) => `[${omitted} more; use a narrower pattern]`,
    );
  },
);
