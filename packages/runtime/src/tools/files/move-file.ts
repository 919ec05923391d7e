import { filePath, type Files, folderPath } from "@thinkery/sdk";
import { z } from "zod";
import { fileTool, refused } from "./file-tool.ts";
import { counted, missing } from "./shown.ts";

export const moveFile = fileTool(
  {
    name: "moveFile",
    description: "Move or rename a file or folder. `to` may be a folder.",
    input: z.object({ from: z.string(), to: z.string() }),
    action: "move",
    local: true,
  },
  (given, { files }) => {
    const from = folderPath(given.from);
    if (from === undefined) throw refused("That is the whole workspace, and stays where it is.");
    const isFile = files.stat(from) !== undefined;
    const moved = isFile ? [from] : files.list(from).map(({ path }) => path);
    if (moved.length === 0) throw missing(files, from);
    const to = target(files, from, given.to);
    const known = moved.filter((path) => files.seen(path) === files.stat(path)?.hash);
    files.commit([{ move: from, to }]);
    // Whoever has read it knows it under its new name too.
    for (const path of known) files.see(to + path.slice(from.length));
    return `Moved ${from} to ${to}${isFile ? "" : `, ${counted(moved.length, "file")}`}.`;
  },
);

/** A folder as the target is where it goes, under the name it has. */
function target(files: Files, from: string, given: string): string {
  const name = from.slice(from.lastIndexOf("/") + 1);
  const to = folderPath(given);
  if (to === undefined) return name;
  const isFolder = given.endsWith("/") || (to !== from && files.list(to).length > 0);
  return isFolder ? filePath(`${to}/${name}`) : to;
}
