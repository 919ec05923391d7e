import { type FileContent, parseFilePath, type FileSnapshot, type TextPatch } from "@thinkery/sdk";
import { z } from "zod";
import { isSameContent } from "../../workspace/content.ts";
import { listChangedBlocks } from "../../workspace/text/patch.ts";
import { createConflictError, defineFileTool, createInputError } from "./file-tool.ts";
import { formatBytes, formatCount, formatLineCounts } from "./format.ts";

export const writeFile = defineFileTool(
  {
    name: "writeFile",
    aliases: ["write_file"],
    description:
      "Write a whole file of the workspace; folders come by themselves. One that is there must have been read first. To change a part, use editFile.",
    inputSchema: z.object({ path: z.string(), content: z.string() }),
    action: "write",
    local: true,
  },
  async ({ path: given, content: text }, { files, signal }) => {
    const path = parseFilePath(given);
    const content = await files.store(text, path);
    signal.throwIfAborted();
    const found = await files.read(path);
    if (found && isSameContent(found.content, content)) {
      await files.markSeen(path, found.file.hash);
      return `${path} was like that already.`;
    }
    if (found) checkSeen(found);
    const expected = { [path]: found?.file.hash ?? null };
    const { stale, patches } = await files.commit([{ write: path, content }], { expected, seen: true });
    if (stale !== undefined) throw createConflictError(path);
    return summarize(path, found, content, patches[0]?.patch);
  },
);

function checkSeen({ file, seenHash }: FileSnapshot): void {
  if (seenHash === file.hash) return;
  const why = seenHash === undefined ? "is there already, and you have not read it" : "has changed since you read it";
  throw createInputError(`“${file.path}” ${why}. Read it first, then write it again if it is still to be replaced.`);
}

function summarize(
  path: string,
  found: FileSnapshot | undefined,
  content: FileContent,
  patch: TextPatch | undefined,
): string {
  if (typeof content !== "string") return `${found ? "Replaced" : "Created"} ${path}, ${formatBytes(content.size)}.`;
  if (typeof found?.content === "string" && patch)
    return `Changed ${path}: ${formatLineCounts(listChangedBlocks(found.content, patch))}.`;
  return `${found ? "Replaced" : "Created"} ${path}, ${formatCount(countLines(content), "line")}.`;
}

function countLines(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
