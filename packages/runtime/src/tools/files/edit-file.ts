import { type FileContent, type FileInfo, filePath, type Files } from "@thinkery/sdk";
import { z } from "zod";
import { replaced, type TextEdit } from "../../workspace/text/replace.ts";
import { fileTool, refused } from "./file-tool.ts";
import { changedLines, counted, missing } from "./shown.ts";

const editShape = { oldString: z.string(), newString: z.string(), replaceAll: z.boolean().optional() };

export const editFile = fileTool(
  {
    name: "editFile",
    aliases: ["edit_file"],
    description: "Replace text in a file that you have read. oldString must be there once, without line numbers, unless replaceAll. `edits` makes several at once.",
    input: z
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
        if (isSeveral ? oldString || newString : !isOne) context.addIssue({ code: "custom", message: "give oldString and newString, or edits" });
      }),
    action: "edit",
    local: true,
    summarize: (output) => String(output).split("\n", 1)[0] ?? "",
  },
  ({ path: given, oldString = "", newString = "", replaceAll, edits: several = [] }, { files, signal }) => {
    const edits = several.length > 0 ? several : [{ oldString, newString, replaceAll }];
    const path = filePath(given);
    const file = files.stat(path);
    if (!file && !isNew(files, path, edits)) throw missing(files, path);
    const content = files.content(path) ?? "";
    if (typeof content === "string") return edit(files, { path, file, before: content, signal }, edits);
    return files.text(path).then((before) => {
      if (before === undefined) throw refused(`“${path}” is not text, and cannot be edited. Write it whole, or use bash.`);
      return edit(files, { path, file, before, signal }, edits);
    });
  },
);

interface Edited {
  path: string;
  /** The file as it was when its text was read; nothing for a new one. */
  file: FileInfo | undefined;
  before: string;
  signal: AbortSignal;
}

/** A file that is not there yet may be made by replacing nothing. */
function isNew(files: Files, path: string, edits: readonly TextEdit[]): boolean {
  return edits[0]?.oldString === "" && files.list(path).length === 0;
}

function edit(files: Files, { path, file, before, signal }: Edited, edits: readonly TextEdit[]): string | Promise<string> {
  const seen = files.seen(path);
  if (file && seen === undefined) throw refused(`You have not read “${path}” yet. Read it, then edit it.`);
  // Others may have changed it. What is there to the letter is still what was meant; anything less certain is not.
  const isFresh = !file || seen === file.hash;
  const result = replaced(before, edits, { exact: !isFresh });
  const stale = isFresh ? "" : `“${path}” has changed since you read it. `;
  if ("refusal" in result) throw refused(stale + result.refusal);
  if (!isFresh && result.count > edits.length) throw refused(`${stale}Read it again before you replace all of something in it.`);
  const kept = files.keep(result.text, path);
  const done = (content: FileContent) => {
    signal.throwIfAborted();
    if (files.stat(path)?.hash !== file?.hash) throw refused(`“${path}” was changed by somebody else just now. Try again.`);
    files.commit([{ write: path, content }]);
    if (isFresh) files.see(path);
    const where = `${file ? "Changed" : "Created"} ${path}${result.count > 1 ? ` in ${counted(result.count, "place")}` : ""}.`;
    const lines = changedLines(before, result.text, isFresh ? { around: 1, most: 30 } : { around: 5, most: 60 });
    return `${where}${stale && ` ${stale}Around the edit it now is as follows; read it for the rest.`}\n${lines}`.trimEnd();
  };
  return kept instanceof Promise ? kept.then(done) : done(kept);
}
