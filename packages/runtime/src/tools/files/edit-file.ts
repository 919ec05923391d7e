import { parseFilePath, type Files, type FileSnapshot } from "@thinkery/sdk";
import { z } from "zod";
import { decodeText } from "../../workspace/content.ts";
import { listChangedBlocks, createPatch } from "../../workspace/text/patch.ts";
import { replaceText, type TextEdit } from "../../workspace/text/replace.ts";
import { createConflictError, defineFileTool, createInputError } from "./file-tool.ts";
import { formatChangedLines, formatCount, createMissingError } from "./format.ts";

const editShape = { oldString: z.string(), newString: z.string(), replaceAll: z.boolean().optional() };

export const editFile = defineFileTool(
  {
    name: "editFile",
    aliases: ["edit_file"],
    description:
      "Replace text in a file that you have read. oldString must be there once, without line numbers, unless replaceAll. `edits` makes several at once.",
    inputSchema: z
      .object({
        path: z.string(),
        oldString: editShape.oldString.optional(),
        newString: editShape.newString.optional(),
        replaceAll: editShape.replaceAll,
        edits: z.array(z.object(editShape)).optional(),
      })
      .superRefine(({ oldString, newString, edits }, context) => {
        const isOne = oldString !== undefined && newString !== undefined;
        const isSeveral = edits !== undefined && edits.length > 0;
        // Some give all that there is, with nothing in what they do not mean.
        if (isSeveral ? oldString || newString : !isOne)
          context.addIssue({ code: "custom", message: "give oldString and newString, or edits" });
      }),
    action: "edit",
    local: true,
    summarize: (output) => String(output).split("\n", 1)[0] ?? "",
  },
  async ({ path: given, oldString = "", newString = "", replaceAll, edits: several = [] }, { files, signal }) => {
    const edits = several.length > 0 ? several : [{ oldString, newString, replaceAll }];
    const path = parseFilePath(given);
    const found = await files.read(path);
    if (!found && !(await isNew(files, path, edits))) throw await createMissingError(files, path);
    const before = found ? await readText(files, found) : "";
    const seen = checkSeen(found);
    const result = replaceText(before, edits, { exact: !seen.isFresh });
    if ("refusal" in result) throw createInputError(seen.warning + result.refusal);
    if (!seen.isFresh && result.count > edits.length) {
      throw createInputError(`${seen.warning}Read it again before you replace all of something in it.`);
    }
    const content = await files.store(result.text, path);
    signal.throwIfAborted();
    const expected = { [path]: found?.file.hash ?? null };
    const { stale, patches } = await files.commit([{ write: path, content }], { expected, seen: seen.isFresh });
    if (stale !== undefined) throw createConflictError(path);
    // A text that is too long to be edited together is a blob, and has no patch.
    const patch = patches[0]?.patch ?? createPatch(before, result.text);
    const places = result.count > 1 ? ` in ${formatCount(result.count, "place")}` : "";
    const around = seen.isFresh ? { around: 1, most: 30 } : { around: 5, most: 60 };
    const note = seen.warning && ` ${seen.warning}Around the edit it now is as follows; read it for the rest.`;
    const lines = formatChangedLines(result.text, listChangedBlocks(before, patch), around);
    return `${found ? "Changed" : "Created"} ${path}${places}.${note}\n${lines}`.trimEnd();
  },
);

/** A file that is not there yet may be made by replacing nothing. */
async function isNew(files: Files, path: string, edits: readonly TextEdit[]): Promise<boolean> {
  return edits[0]?.oldString === "" && (await files.list({ under: path })).length === 0;
}

async function readText(files: Files, { file: { path }, content }: FileSnapshot): Promise<string> {
  const text = typeof content === "string" ? content : decodeText(await files.readBytes(content, path));
  if (text === undefined)
    throw createInputError(`“${path}” is not text, and cannot be edited. Write it whole, or use bash.`);
  return text;
}

/**
 * Others may have changed the file since the model read it. What is there to the letter is still what was meant; anything
 * less certain is not.
 */
function checkSeen(found: FileSnapshot | undefined): { isFresh: boolean; warning: string } {
  if (!found) return { isFresh: true, warning: "" };
  const { file, seenHash } = found;
  if (seenHash === undefined) throw createInputError(`You have not read “${file.path}” yet. Read it, then edit it.`);
  const isFresh = seenHash === file.hash;
  return { isFresh, warning: isFresh ? "" : `“${file.path}” has changed since you read it. ` };
}
