import { parseFolderPath } from "@thinkery/sdk";
import { z } from "zod";
import { defineFileTool } from "./file-tool.ts";
import { formatCount, formatListing, createMissingError } from "./format.ts";

export const listFiles = defineFileTool(
  {
    name: "listFiles",
    aliases: ["ls"],
    description: "List the files of the workspace or a folder.",
    inputSchema: z.object({ path: z.string().optional() }),
    action: "list",
    idempotent: true,
    parallel: true,
    local: true,
    summarize: (output) => formatCount(String(output).split("\n").length, "line"),
  },
  async ({ path = "" }, { files }) => {
    const folder = parseFolderPath(path);
    const file = folder === undefined ? undefined : await files.stat(folder);
    const found = file ? [file] : await files.list({ under: folder });
    if (folder !== undefined && found.length === 0) throw await createMissingError(files, folder);
    return formatListing(found, folder);
  },
);
