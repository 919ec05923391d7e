import { parseFilePath, type Files, type FileSnapshot, parseFolderPath, ToolImage } from "@thinkery/sdk";
import { z } from "zod";
import { decodeText } from "../../workspace/content.ts";
import { truncateText } from "../../workspace/text/lines.ts";
import { defineFileTool, createInputError } from "./file-tool.ts";
import { formatBytes, formatCount, formatListing, createMissingError, maxOutputChars } from "./format.ts";
import { detectImageType } from "./image-type.ts";

const maxLines = 2_000;
const maxLineChars = 2_000;
const maxImageBytes = 8 * 1024 * 1024;

export const readFile = defineFileTool(
  {
    name: "readFile",
    aliases: ["read_file"],
    description:
      "Read a file of the workspace with line numbers: at most 2000 lines, starting at line `offset`. Also shows images and lists folders.",
    inputSchema: z.object({ path: z.string(), offset: z.number().optional(), limit: z.number().optional() }),
    action: "read",
    idempotent: true,
    parallel: true,
    local: true,
    summarize: (output) =>
      output instanceof ToolImage ? "an image" : formatCount(String(output).split("\n").length, "line"),
  },
  async ({ path: rawPath, offset = 1, limit = maxLines }, { files }) => {
    const folder = parseFolderPath(rawPath);
    const path = folder === undefined ? undefined : parseFilePath(folder);
    const snapshot = path === undefined ? undefined : await files.read(path);
    if (!snapshot) return listFolder(files, path);
    const page = { offset: Math.max(1, Math.floor(offset)), limit: Math.min(maxLines, Math.max(1, Math.floor(limit))) };
    const { file, content } = snapshot;
    if (file.hash !== snapshot.seenHash) await files.markSeen(file.path, file.hash);
    return typeof content === "string" ? formatText(content, page) : readBlob(files, snapshot, page);
  },
);

interface Page {
  /** The first line, starting at 1. */
  offset: number;
  limit: number;
}

async function listFolder(files: Files, path: string | undefined): Promise<string> {
  const found = await files.list({ under: path });
  if (path !== undefined && found.length === 0) throw await createMissingError(files, path);
  return formatListing(found, path);
}

/** Shows a file that is not stored as text: an image, a long text, or binary data. */
async function readBlob(files: Files, { file, content }: FileSnapshot, page: Page): Promise<unknown> {
  const { path, size, mediaType } = file;
  const data = await files.readBytes(content, path);
  const image = detectImageType(data);
  if (image && size > maxImageBytes)
    return `${path} is an image (${image}, ${formatBytes(size)}) that is too large to show.`;
  if (image) return new ToolImage(image, data, path);
  const text = decodeText(data);
  return text === undefined ? `${path} is not text: ${mediaType}, ${formatBytes(size)}.` : formatText(text, page);
}

function formatText(text: string, { offset, limit }: Page): string {
  if (text === "") return "The file is empty.";
  const lines: string[] = [];
  let remainingChars = maxOutputChars;
  let [number, at] = [0, 0];
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    number += 1;
    if (number >= offset && lines.length < limit && remainingChars > 0) {
      const line = formatNumberedLine(text.slice(at, end), number);
      lines.push(line);
      remainingChars -= line.length + 1;
    }
    at = end + 1;
  }
  if (lines.length === 0)
    throw createInputError(`The file has ${formatCount(number, "line")}; there is no line ${offset}.`);
  const last = offset + lines.length - 1;
  if (offset > 1 || last < number)
    lines.push(`[lines ${offset}–${last} of ${number}${last < number ? `; continue with offset ${last + 1}` : ""}]`);
  return lines.join("\n");
}

function formatNumberedLine(line: string, number: number): string {
  const plain = line.endsWith("\r") ? line.slice(0, -1) : line;
  const shown =
    plain.length > maxLineChars
      ? `${truncateText(plain, maxLineChars)}… [${plain.length - maxLineChars} more characters]`
      : plain;
  return `${number}\t${shown}`;
}
