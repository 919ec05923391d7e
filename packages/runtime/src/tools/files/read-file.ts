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
      "Read a file of the workspace, with line numbers; 2000 lines at most, from line `offset` on. Shows images too, and lists folders.",
    inputSchema: z.object({ path: z.string(), offset: z.number().optional(), limit: z.number().optional() }),
    action: "read",
    idempotent: true,
    parallel: true,
    local: true,
    summarize: (output) =>
      output instanceof ToolImage ? "a picture" : `${formatCount(String(output).split("\n").length, "line")}`,
  },
  async ({ path: given, offset = 1, limit = maxLines }, { files }) => {
    const folder = parseFolderPath(given);
    const path = folder === undefined ? undefined : parseFilePath(folder);
    const found = path === undefined ? undefined : await files.read(path);
    if (!found) return listFolder(files, path);
    const page = { offset: Math.max(1, Math.floor(offset)), limit: Math.min(maxLines, Math.max(1, Math.floor(limit))) };
    const { file, content } = found;
    if (file.hash !== found.seenHash) await files.markSeen(file.path, file.hash);
    return typeof content === "string" ? formatText(content, page) : readBlob(files, found, page);
  },
);

interface Page {
  /** The first line, from 1. */
  offset: number;
  limit: number;
}

async function listFolder(files: Files, path: string | undefined): Promise<string> {
  const inside = await files.list({ under: path });
  if (path !== undefined && inside.length === 0) throw await createMissingError(files, path);
  return formatListing(inside, path);
}

/** What is not kept as text: a picture, a text that is long, or bytes that say nothing to a model. */
async function readBlob(files: Files, { file, content }: FileSnapshot, page: Page): Promise<unknown> {
  const { path, size, mediaType } = file;
  const data = await files.readBytes(content, path);
  const image = detectImageType(data);
  if (image && size > maxImageBytes)
    return `${path} is a picture (${image}) of ${formatBytes(size)}; that is too large to be shown.`;
  if (image) return new ToolImage(image, data, path);
  const text = decodeText(data);
  return text === undefined ? `${path} is not text: ${mediaType}, ${formatBytes(size)}.` : formatText(text, page);
}

function formatText(text: string, { offset, limit }: Page): string {
  if (text === "") return "The file is empty.";
  const lines: string[] = [];
  let room = maxOutputChars;
  let [number, at] = [0, 0];
  while (at < text.length) {
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    number += 1;
    if (number >= offset && lines.length < limit && room > 0) {
      const line = formatNumberedLine(text.slice(at, end), number);
      lines.push(line);
      room -= line.length + 1;
    }
    at = end + 1;
  }
  if (lines.length === 0)
    throw createInputError(`The file has ${formatCount(number, "line")}; there is no line ${offset}.`);
  const last = offset + lines.length - 1;
  if (offset > 1 || last < number)
    lines.push(`[lines ${offset}–${last} of ${number}${last < number ? `; go on with offset ${last + 1}` : ""}]`);
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
