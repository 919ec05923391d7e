import { type FileContent, filePath, type Files } from "@thinkery/sdk";
import { z } from "zod";
import { fileTool, refused } from "./file-tool.ts";
import { bytes, counted, lineCounts } from "./shown.ts";

export const writeFile = fileTool(
  {
    name: "writeFile",
    aliases: ["write_file"],
    description: "Write a whole file of the workspace; folders come by themselves. One that is there must have been read first. To change a part, use editFile.",
    input: z.object({ path: z.string(), content: z.string() }),
    action: "write",
    local: true,
  },
  ({ path: given, content }, { files, signal }) => {
    const path = filePath(given);
    const kept = files.keep(content, path);
    // From what is there to what is written nobody else gets a word in.
    if (!(kept instanceof Promise)) return write(files, path, kept);
    return kept.then((big) => {
      signal.throwIfAborted();
      return write(files, path, big);
    });
  },
);

function write(files: Files, path: string, content: FileContent): string {
  const file = files.stat(path);
  const before = files.content(path);
  const isSame = typeof content === "string" ? content === before : typeof before === "object" && before.blob === content.blob;
  if (!isSame && file && files.seen(path) !== file.hash) {
    const why = files.seen(path) === undefined ? "is there already, and you have not read it" : "has changed since you read it";
    throw refused(`“${path}” ${why}. Read it first, then write it again if it is still to be replaced.`);
  }
  files.commit([{ write: path, content }]);
  files.see(path);
  if (isSame) return `${path} was like that already.`;
  if (typeof content !== "string") return `${file ? "Replaced" : "Created"} ${path}, ${bytes(content.size)}.`;
  if (typeof before === "string") return `Changed ${path}: ${lineCounts(before, content)}.`;
  return `${file ? "Replaced" : "Created"} ${path}, ${counted(lineCount(content), "line")}.`;
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
