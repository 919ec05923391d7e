import { type FileContent, parseFilePath, type FileSnapshot, type TextPatch } from "@thinkery/sdk";
import { z } from "zod";
import { isSameContent } from "../../workspace/content.ts";
import { listChangedBlocks } from "../../workspace/text/patch.ts";
import { createConflictError, defineFileTool, createInputError } from "./file-tool.ts";
import { formatBytes, formatCount, formatLineCounts } from "./format.ts";
import { previewWrite } from "./preview-edit.ts";

export const writeFile = defineFileTool(
  {
    name: "writeFile",
    aliases: ["write_file"],
    description:
      "Write a whole file of the workspace; folders are created as needed. Read an existing file first. To change a part, use editFile.",
    inputSchema: z.object({ path: z.string(), content: z.string() }),
    action: "write",
    local: true,
    preview: ({ path, content }, files) => previewWrite(files, path, content),
  },
  async ({ path: rawPath, content: text }, { files, signal }) => {
    const path = parseFilePath(rawPath);
    const content = await files.store(text, path);
    signal.throwIfAborted();
    const snapshot = await files.read(path);
    if (snapshot && isSameContent(snapshot.content, content)) {
      await files.markSeen(path, snapshot.file.hash);
      return `${path} already has this content.`;
    }
    if (snapshot) checkSeen(snapshot);
    const expected = { [path]: snapshot?.file.hash ?? null };
    const { stale, patches } = await files.commit([{ write: path, content }], { expected, seen: true });
    if (stale !== undefined) throw createConflictError(path);
    return summarize(path, snapshot, content, patches[0]?.patch);
  },
);

function checkSeen({ file, seenHash }: FileSnapshot): void {
  if (seenHash === file.hash) return;
  const reason = seenHash === undefined ? "already exists and you have not read it" : "has changed since you read it";
  throw createInputError(
    `“${file.path}” ${reason}. Read it first, then write it again if you still want to replace it.`,
  );
}

function summarize(
  path: string,
  snapshot: FileSnapshot | undefined,
  content: FileContent,
  patch: TextPatch | undefined,
): string {
  if (typeof content !== "string") return `${snapshot ? "Replaced" : "Created"} ${path}, ${formatBytes(content.size)}.`;
  if (typeof snapshot?.content === "string" && patch)
    return `Changed ${path}: ${formatLineCounts(listChangedBlocks(snapshot.content, patch))}.`;
  return `${snapshot ? "Replaced" : "Created"} ${path}, ${formatCount(countLines(content), "line")}.`;
}

function countLines(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}
