import { defineTool, type FileInfo, parseFilePath, parseFolderPath, fail, type Files, type Tool } from "@thinkery/sdk";
import { maxCommandBytes } from "@thinkery/sdk/internal";
import { z } from "zod";
import { matchPaths } from "../../policy/match-paths.ts";
import { decodeText } from "../../workspace/content.ts";
import { redactFileInput } from "../files/file-tool.ts";
import { formatBytes, formatCount } from "../files/format.ts";

// The `fs` and `bash` that code gets. They have the names of the model's tools, so that the same policy rules apply,
// but
// their inputs and outputs are made for programs.

/** Content as sent to code and back, because JSON cannot hold bytes. */
type EncodedContent = { text: string } | { base64: string };

const encodedContentSchema = z.union([z.strictObject({ text: z.string() }), z.strictObject({ base64: z.base64() })]);

const readFile = defineTool(
  {
    name: "readFile",
    description: "Returns the content of a file, or with `only` its metadata, which is null if there is no such file.",
    inputSchema: z.strictObject({ path: z.string(), only: z.literal("info").optional() }),
    action: "read",
    idempotent: true,
    parallel: true,
    matchesRule: matchPaths,
    redactInput: redactFileInput,
    summarize: (output) =>
      output === null ? "not found" : "kind" in (output as object) ? "metadata" : formatSize(output as EncodedContent),
  },
  async ({ path: rawPath, only }, { files }) => {
    if (only) {
      const folder = parseFolderPath(rawPath);
      const file = folder === undefined ? undefined : await files.stat(folder);
      if (file) return file;
      const isFolder = folder === undefined || (await files.list({ under: folder })).length > 0;
      return isFolder ? { path: folder ?? "", kind: "folder" } : null;
    }
    const path = parseFilePath(rawPath);
    const snapshot = await files.read(path);
    if (!snapshot) throw await createMissingError(files, path);
    if (typeof snapshot.content === "string") return { text: snapshot.content };
    const data = await files.readBytes(snapshot.content, path);
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
    summarize: (output) => `wrote ${String(output)}`,
  },
  async ({ path: rawPath, content }, { files, signal }) => {
    const path = parseFilePath(rawPath);
    const stored = await files.store("text" in content ? content.text : Buffer.from(content.base64, "base64"), path);
    signal.throwIfAborted();
    await files.commit([{ write: path, content: stored }]);
    return path;
  },
);

const listFiles = defineTool(
  {
    name: "listFiles",
    description: "Lists all files in a folder and its subfolders.",
    inputSchema: z.strictObject({ path: z.string().optional() }),
    action: "list",
    idempotent: true,
    parallel: true,
    matchesRule: matchPaths,
    redactInput: redactFileInput,
    summarize: (output) => formatCount((output as FileInfo[]).length, "file"),
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
    // The shell's own limits apply first.
    timeoutSeconds: 7300,
    matchesRule: () => false,
    summarize: (output) => `exit code ${(output as { exitCode: number }).exitCode}`,
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

/** Also called with invalid inputs. */
function redactContent(input: unknown): { content?: string } {
  const { data } = encodedContentSchema.safeParse((input as { content?: unknown } | null)?.content);
  return data ? { content: formatSize(data) } : {};
}
