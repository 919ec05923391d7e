import { parseFilePath, type Files, type FileSnapshot } from "@thinkery/sdk";
import { z } from "zod";
import { decodeText } from "../../workspace/content.ts";
import { listChangedBlocks, createPatch } from "../../workspace/text/patch.ts";
import { replaceText, type TextEdit } from "../../workspace/text/replace.ts";
import { createConflictError, defineFileTool, createInputError } from "./file-tool.ts";
import { formatChangedLines, formatCount, createMissingError } from "./format.ts";
import { previewEdits } from "./preview-edit.ts";

const editShape = { oldString: z.string(), newString: z.string(), replaceAll: z.boolean().optional() };

export const editFile = defineFileTool(
  {
    name: "editFile",
    aliases: ["edit_file"],
    description:
      "Replace text in a file you have read. oldString must occur exactly once unless replaceAll, without line numbers. `edits` makes several edits at once.",
    inputSchema: z
      .object({
        path: z.string(),
        oldString: editShape.oldString.optional(),
        newString: editShape.newString.optional(),
        replaceAll: editShape.replaceAll,
        edits: z.array(z.object(editShape)).optional(),
      })
      .superRefine(({ oldString, newString, edits }, context) => {
        const hasStrings = oldString !== undefined && newString !== undefined;
        const hasEdits = edits !== undefined && edits.length > 0;
        // Some models fill in every field and leave unused ones empty.
        if (hasEdits ? oldString || newString : !hasStrings)
          context.addIssue({ code: "custom", message: "give oldString and newString, or edits" });
      }),
    action: "edit",
    local: true,
    preview: ({ path, oldString = "", newString = "", replaceAll, edits = [] }, files) =>
      previewEdits(files, path, edits.length > 0 ? edits : [{ oldString, newString, replaceAll }]),
    summarize: (output) => String(output).split("\n", 1)[0] ?? "",
  },
  async ({ path: rawPath, oldString = "", newString = "", replaceAll, edits: editList = [] }, { files, signal }) => {
    const edits = editList.length > 0 ? editList : [{ oldString, newString, replaceAll }];
    const path = parseFilePath(rawPath);
    const snapshot = await files.read(path);
    if (!snapshot && !(await isNew(files, path, edits))) throw await createMissingError(files, path);
    const before = snapshot ? await readText(files, snapshot) : "";
    const seen = checkSeen(snapshot);
    const result = replaceText(before, edits, { exact: !seen.isFresh });
    if ("error" in result) throw createInputError(seen.warning + result.error);
    if (!seen.isFresh && result.count > edits.length) {
      throw createInputError(`${seen.warning}Read it again before you use replaceAll.`);
    }
    const content = await files.store(result.text, path);
    signal.throwIfAborted();
    const expected = { [path]: snapshot?.file.hash ?? null };
    const { stale, patches } = await files.commit([{ write: path, content }], { expected, seen: seen.isFresh });
    if (stale !== undefined) throw createConflictError(path);
    // A text too large for live editing is a blob and has no patch.
    const patch = patches[0]?.patch ?? createPatch(before, result.text);
    const places = result.count > 1 ? ` in ${formatCount(result.count, "place")}` : "";
    const limits = seen.isFresh ? { contextLines: 1, maxLines: 30 } : { contextLines: 5, maxLines: 60 };
    const note = seen.warning && ` ${seen.warning}The text around the edit is shown below; read the file for the rest.`;
    const lines = formatChangedLines(result.text, listChangedBlocks(before, patch), limits);
    return `${snapshot ? "Changed" : "Created"} ${path}${places}.${note}\n${lines}`.trimEnd();
  },
);

/** An empty oldString creates a file that does not exist yet. */
async function isNew(files: Files, path: string, edits: readonly TextEdit[]): Promise<boolean> {
  return edits[0]?.oldString === "" && (await files.list({ under: path })).length === 0;
}

async function readText(files: Files, { file: { path }, content }: FileSnapshot): Promise<string> {
  const text = typeof content === "string" ? content : decodeText(await files.readBytes(content, path));
  if (text === undefined)
    throw createInputError(`“${path}” is not text and cannot be edited. Use writeFile to replace it, or bash.`);
  return text;
}

/**
 * Checks whether others have changed the file since the model read it. Then an exact match is still certain to be what
 * the model meant; a tolerant one is not.
 */
function checkSeen(snapshot: FileSnapshot | undefined): { isFresh: boolean; warning: string } {
  if (!snapshot) return { isFresh: true, warning: "" };
  const { file, seenHash } = snapshot;
  if (seenHash === undefined)
    throw createInputError(`You have not read “${file.path}” yet. Read it before you edit it.`);
  const isFresh = seenHash === file.hash;
  return { isFresh, warning: isFresh ? "" : `“${file.path}” has changed since you read it. ` };
}
