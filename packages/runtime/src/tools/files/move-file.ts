import { parseFilePath, type Files, parseFolderPath } from "@thinkery/sdk";
import { z } from "zod";
import { defineFileTool, createInputError } from "./file-tool.ts";
import { formatCount, createMissingError } from "./format.ts";

export const moveFile = defineFileTool(
  {
    name: "moveFile",
    description: "Move or rename a file or folder. `to` may be a folder.",
    inputSchema: z.object({ from: z.string(), to: z.string() }),
    action: "move",
    local: true,
  },
  async (input, { files }) => {
    const from = parseFolderPath(input.from);
    if (from === undefined) throw createInputError("The workspace root cannot be moved.");
    const isFile = (await files.stat(from)) !== undefined;
    const count = isFile ? 1 : (await files.list({ under: from })).length;
    if (count === 0) throw await createMissingError(files, from);
    const to = await findTarget(files, from, input.to);
    // A model that has read the file knows it under its new name too.
    await files.commit([{ move: from, to }], { seen: true });
    return `Moved ${from} to ${to}${isFile ? "" : `, ${formatCount(count, "file")}`}.`;
  },
);

/** If the target is a folder, the file is moved into it and keeps its name. */
async function findTarget(files: Files, from: string, target: string): Promise<string> {
  const name = from.slice(from.lastIndexOf("/") + 1);
  const to = parseFolderPath(target);
  if (to === undefined) return name;
  const isFolder = target.endsWith("/") || (to !== from && (await files.list({ under: to })).length > 0);
  return isFolder ? parseFilePath(`${to}/${name}`) : to;
}
