import { type CallPreview, type Files, isThinkeryError, parseFilePath } from "@thinkery/sdk";
import { decodeText } from "../../workspace/content.ts";
import { replaceText, type TextEdit } from "../../workspace/text/replace.ts";
import { createUnifiedDiff } from "../../workspace/text/unified-diff.ts";

/** Longer texts are not compared for a preview. */
const maxTextChars = 500_000;
const maxDiffChars = 20_000;

type ReadableFiles = Pick<Files, "read" | "readBytes">;

/** Shows what edits would change in a file as it is now. */
export async function previewEdits(
  files: ReadableFiles,
  rawPath: string,
  edits: readonly TextEdit[],
): Promise<CallPreview> {
  const text = await readText(files, rawPath);
  const result = replaceText(text ?? "", edits, { exact: false });
  if ("error" in result) return { kind: "text", text: `As the file is now, this edit would fail. ${result.error}` };
  return createPreview(rawPath, text, result.text);
}

/** Shows what writing a file would change. */
export async function previewWrite(files: ReadableFiles, rawPath: string, content: string): Promise<CallPreview> {
  return createPreview(rawPath, await readText(files, rawPath), content);
}

function createPreview(path: string, before: string | undefined, after: string): CallPreview {
  if ((before?.length ?? 0) + after.length > maxTextChars) return { kind: "text", text: `Replaces ${path}.` };
  return { kind: "diff", path, diff: createUnifiedDiff(path, before, after, maxDiffChars).diff };
}

async function readText(files: ReadableFiles, rawPath: string): Promise<string | undefined> {
  try {
    const snapshot = await files.read(parseFilePath(rawPath));
    if (!snapshot) return undefined;
    const { content, file } = snapshot;
    return typeof content === "string" ? content : decodeText(await files.readBytes(content, file.path));
  } catch (error) {
    // The call itself will say what is wrong with the path.
    if (isThinkeryError(error)) return undefined;
    throw error;
  }
}
