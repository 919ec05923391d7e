import { type FileContent, filePath, type FileSnapshot, type TextPatch } from "@thinkery/sdk";
import { z } from "zod";
import { isSame } from "../../workspace/content.ts";
import { changedBlocks } from "../../workspace/text/patch.ts";
import { changedMeanwhile, fileTool, refused } from "./file-tool.ts";
import { bytes, counted, lineCounts } from "./shown.ts";

export const writeFile = fileTool(
  {
    name: "writeFile",
    aliases: ["write_file"],
    description: "Write a whole file of the workspace; folders come by themselves. One that is there must have been read first. To change a part, use editFile.",
    inputSchema: z.object({ path: z.string(), content: z.string() }),
    action: "write",
    local: true,
  },
  async ({ path: given, content: text }, { files, signal }) => {
    const path = filePath(given);
    const content = await files.store(text, path);
    signal.throwIfAborted();
    const found = await files.read(path);
    if (found && isSame(found.content, content)) {
      await files.markSeen(path, found.file.hash);
      return `${path} was like that already.`;
    }
    if (found) checkSeen(found);
    const expected = { [path]: found?.file.hash ?? null };
    const { stale, patches } = await files.commit([{ write: path, content }], { expected, seen: true });
    if (stale !== undefined) throw changedMeanwhile(path);
    return summarize(path, found, content, patches[0]?.patch);
  },
);

function checkSeen({ file, seenHash }: FileSnapshot): void {
  if (seenHash === file.hash) return;
  const why = seenHash === undefined ? "is there already, and you have not read it" : "has changed since you read it";
  throw refused(`“${file.path}” ${why}. Read it first, then write it again if it is still to be replaced.`);
}

function summarize(path: string, found: FileSnapshot | undefined, content: FileContent, patch: TextPatch | undefined): string {
  if (typeof content !== "string") return `${found ? "Replaced" : "Created"} ${path}, ${bytes(content.size)}.`;
  if (typeof found?.content === "string" && patch) return `Changed ${path}: ${lineCounts(changedBlocks(found.content, patch))}.`;
  return `${found ? "Replaced" : "Created"} ${path}, ${counted(lineCount(content), "line")}.`;
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
