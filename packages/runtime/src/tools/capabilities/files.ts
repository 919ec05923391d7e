import { defineTool, type FileInfo, parseFilePath, parseFolderPath, fail, type Files, type Tool } from "@thinkery/sdk";
import { maxCommandBytes } from "@thinkery/sdk/internal";
import { z } from "zod";
import { matchPaths } from "../../policy/match-paths.ts";
import { decodeText } from "../../workspace/content.ts";
import { redactFileInput } from "../files/file-tool.ts";
import { formatBytes, formatCount } from "../files/format.ts";

/**
 * What code has as `fs` and `bash`. They are called what the tools of a model are called, so that a rule for those holds
 * here too; what they give and take is for programs.
 */

/** Content on its way to code and back: JSON has no bytes. */
type EncodedContent = { text: string } | { base64: string };

const encodedContentSchema = z.union([z.strictObject({ text: z.string() }), z.strictObject({ base64: z.base64() })]);

const readFile = defineTool(
  {
    name: "readFile",
    description: "What is in a file, or what is known of it; null where there is none.",
    inputSchema: z.strictObject({ path: z.string(), only: z.literal("info").optional() }),
    action: "read",
    idempotent: true,
    parallel: true,
    matchesRule: matchPaths,
    redactInput: redactFileInput,
    summarize: (answer) =>
      answer === null
        ? "not there"
        : "kind" in (answer as object)
          ? "what is known of it"
          : formatSize(answer as EncodedContent),
  },
  async ({ path: given, only }, { files }) => {
    if (only) {
      const folder = parseFolderPath(given);
      const file = folder === undefined ? undefined : await files.stat(folder);
      if (file) return file;
      const isFolder = folder === undefined || (await files.list({ under: folder })).length > 0;
      return isFolder ? { path: folder ?? "", kind: "folder" } : null;
    }
    const path = parseFilePath(given);
    const found = await files.read(path);
    if (!found) throw await createMissingError(files, path);
    if (typeof found.content === "string") return { text: found.content };
    const data = await files.readBytes(found.content, path);
    const text = decodeText(data);
    return text === undefined ? { base64: Buffer.from(data).toString("base64") } : { text };
  },
);

const writeFile = defineTool(
  {
    name: "writeFile",
    description: "Writes a whole file.",
    inputSchema: z.strictObject({ path: z.string(), content: encodedContentSchema }),
    action: "write",
    matchesRule: matchPaths,
    redactInput: (input) => ({ ...(redactFileInput(input) as object), ...redactContent(input) }),
    summarize: (answer) => `wrote ${String(answer)}`,
  },
  async ({ path: given, content }, { files, signal }) => {
    const path = parseFilePath(given);
    const stored = await files.store("text" in content ? content.text : Buffer.from(content.base64, "base64"), path);
    signal.throwIfAborted();
    await files.commit([{ write: path, content: stored }]);
    return path;
  },
);

const listFiles = defineTool(
  {
    name: "listFiles",
    description: "All files in a folder and below it.",
    inputSchema: z.strictObject({ path: z.string().optional() }),
    action: "list",
    idempotent: true,
    parallel: true,
    matchesRule: matchPaths,
    redactInput: redactFileInput,
    summarize: (answer) => formatCount((answer as FileInfo[]).length, "file"),
  },
  ({ path = "" }, { files }) => files.list({ under: parseFolderPath(path) }),
);

const deleteFile = defineTool(
  {
    name: "deleteFile",
    description: "Deletes a file or a folder.",
    inputSchema: z.strictObject({ path: z.string() }),
    action: "delete",
    matchesRule: matchPaths,
    redactInput: redactFileInput,
    summarize: () => "deleted",
  },
  async ({ path }, { files }) => void (await files.commit([{ delete: parseFilePath(path) }])),
);

const moveFile = defineTool(
  {
    name: "moveFile",
    description: "Moves a file or a folder.",
    inputSchema: z.strictObject({ from: z.string(), to: z.string() }),
    action: "move",
    matchesRule: matchPaths,
    redactInput: redactFileInput,
    summarize: () => "moved",
  },
  async ({ from, to }, { files }) => void (await files.commit([{ move: parseFilePath(from), to: parseFilePath(to) }])),
);

const bash = defineTool(
  {
    name: "bash",
    description: "Runs a command on the workspace.",
    inputSchema: z.strictObject({
      command: z.string().min(1).max(maxCommandBytes),
      timeoutMs: z.int().min(1).optional(),
    }),
    action: "run",
    // The shell's own limits come first.
    timeoutSeconds: 7300,
    matchesRule: () => false,
    summarize: (answer) => `exit code ${(answer as { exitCode: number }).exitCode}`,
  },
  async ({ command, timeoutMs }, { shell }) => {
    const { exitCode, stdout, stderr, notes } = await shell.run(command, timeoutMs === undefined ? {} : { timeoutMs });
    return { exitCode, stdout, stderr, notes };
  },
);

export const fileCapabilities: readonly Tool[] = [readFile, writeFile, listFiles, deleteFile, moveFile, bash];

async function createMissingError(files: Files, path: string): Promise<Error> {
  const isFolder = (await files.list({ under: path })).length > 0;
  return fail("not_found", isFolder ? `“${path}” is a folder.` : `There is no “${path}” in the workspace.`);
}

function formatSize(content: EncodedContent): string {
  return "text" in content
    ? formatCount(content.text.length, "character")
    : formatBytes(Math.floor((content.base64.length * 3) / 4));
}

/** Of what could not be written, too. */
function redactContent(input: unknown): { content?: string } {
  const { data } = encodedContentSchema.safeParse((input as { content?: unknown } | null)?.content);
  return data ? { content: formatSize(data) } : {};
}
