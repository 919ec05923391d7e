import { filePath, type Files, type FileSnapshot, folderPath, ToolImage } from "@thinkery/sdk";
import { z } from "zod";
import { textIn } from "../../workspace/content.ts";
import { beginning } from "../../workspace/text/lines.ts";
import { fileTool, refused } from "./file-tool.ts";
import { imageType } from "./image-type.ts";
import { bytes, counted, listing, missing, maxOutputChars } from "./shown.ts";

const maxLines = 2_000;
const maxLineChars = 2_000;
const maxImageBytes = 8 * 1024 * 1024;

export const readFile = fileTool(
  {
    name: "readFile",
    aliases: ["read_file"],
    description: "Read a file of the workspace, with line numbers; 2000 lines at most, from line `offset` on. Shows images too, and lists folders.",
    inputSchema: z.object({ path: z.string(), offset: z.number().optional(), limit: z.number().optional() }),
    action: "read",
    idempotent: true,
    parallel: true,
    local: true,
    summarize: (output) => (output instanceof ToolImage ? "a picture" : `${counted(String(output).split("\n").length, "line")}`),
  },
  async ({ path: given, offset = 1, limit = maxLines }, { files }) => {
    const folder = folderPath(given);
    const path = folder === undefined ? undefined : filePath(folder);
    const found = path === undefined ? undefined : await files.read(path);
    if (!found) return folderListing(files, path);
    const page = { offset: Math.max(1, Math.floor(offset)), limit: Math.min(maxLines, Math.max(1, Math.floor(limit))) };
    const { file, content } = found;
    if (file.hash !== found.seenHash) await files.markSeen(file.path, file.hash);
    return typeof content === "string" ? shownText(content, page) : readBlob(files, found, page);
  },
);

interface Page {
  /** The first line, from 1. */
  offset: number;
  limit: number;
}

async function folderListing(files: Files, path: string | undefined): Promise<string> {
  const inside = await files.list({ under: path });
  if (path !== undefined && inside.length === 0) throw await missing(files, path);
  return listing(inside, path);
}

/** What is not kept as text: a picture, a text that is long, or bytes that say nothing to a model. */
async function readBlob(files: Files, { file, content }: FileSnapshot, page: Page): Promise<unknown> {
  const { path, size, mediaType } = file;
  const data = await files.readBytes(content, path);
  const image = imageType(data);
  if (image && size > maxImageBytes) return `${path} is a picture (${image}) of ${bytes(size)}; that is too large to be shown.`;
  if (image) return new ToolImage(image, data, path);
  const text = textIn(data);
  return text === undefined ? `${path} is not text: ${mediaType}, ${bytes(size)}.` : shownText(text, page);
}

function shownText(text: string, { offset, limit }: Page): string {
  if (text === "") return "The file is empty.";
  const lines: string[] = [];
  let room = maxOutputChars;
  let [number, at] = [0, 0];
  while (at < text.length) {
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    number += 1;
    if (number >= offset && lines.length < limit && room > 0) {
      const line = shownLine(text.slice(at, end), number);
      lines.push(line);
      room -= line.length + 1;
    }
    at = end + 1;
  }
  if (lines.length === 0) throw refused(`The file has ${counted(number, "line")}; there is no line ${offset}.`);
  const last = offset + lines.length - 1;
  if (offset > 1 || last < number) lines.push(`[lines ${offset}–${last} of ${number}${last < number ? `; go on with offset ${last + 1}` : ""}]`);
  return lines.join("\n");
}

function shownLine(line: string, number: number): string {
  const plain = line.endsWith("\r") ? line.slice(0, -1) : line;
  const shown = plain.length > maxLineChars ? `${beginning(plain, maxLineChars)}… [${plain.length - maxLineChars} more characters]` : plain;
  return `${number}\t${shown}`;
}
