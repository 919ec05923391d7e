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
  async (given, { files }) => {
    const from = parseFolderPath(given.from);
    if (from === undefined) throw createInputError("That is the whole workspace, and stays where it is.");
    const isFile = (await files.stat(from)) !== undefined;
    const count = isFile ? 1 : (await files.list({ under: from })).length;
    if (count === 0) throw await createMissingError(files, from);
    const to = await findTarget(files, from, given.to);
    // A model that has read it knows it under its new name too.
    await files.commit([{ move: from, to }], { seen: true });
    return `Moved ${from} to ${to}${isFile ? "" : `, ${formatCount(count, "file")}`}.`;
  },
);

/** A folder as the target is where it goes, under the name it has. */
async function findTarget(files: Files, from: string, given: string): Promise<string> {
  const name = from.slice(from.lastIndexOf("/") + 1);
  const to = parseFolderPath(given);
  if (to === undefined) return name;
  const isFolder = given.endsWith("/") || (to !== from && (await files.list({ under: to })).length > 0);
  return isFolder ? parseFilePath(`${to}/${name}`) : to;
}
