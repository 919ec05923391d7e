import { parseFolderPath } from "@thinkery/sdk";
import { z } from "zod";
import { defineFileTool, createInputError } from "./file-tool.ts";
import { formatCount, createMissingError } from "./format.ts";

export const deleteFile = defineFileTool(
  {
    name: "deleteFile",
    description: "Delete a file, or a folder with everything in it.",
    inputSchema: z.object({ path: z.string() }),
    action: "delete",
    local: true,
  },
  async ({ path: rawPath }, { files }) => {
    const path = parseFolderPath(rawPath);
    if (path === undefined)
      throw createInputError("The workspace root cannot be deleted. Delete its files and folders by name.");
    const isFile = (await files.stat(path)) !== undefined;
    const count = isFile ? 1 : (await files.list({ under: path })).length;
    if (count === 0) throw await createMissingError(files, path);
    await files.commit([{ delete: path }]);
    return `Deleted ${path}${isFile ? "" : ` with ${formatCount(count, "file")}`}.`;
  },
);
