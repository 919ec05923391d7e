import { fail, type FileContent, parseFilePath } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import type { Blobs } from "../store/blobs/blobs.ts";
import { getMediaType, decodeText } from "./content.ts";
import { checkFileSize, isEditable } from "./quota.ts";

interface ContentStore {
  blobs: Blobs;
  limits: WorkspaceLimits;
}

/** Units of work to store a blob: locally it takes the thread until it is on disk. */
export const blobUnits = 1_000;

/** Stores content: text small enough for live editing as text, everything else as a blob. */
export function storeContent(
  content: string | Uint8Array,
  path: string,
  { blobs, limits }: ContentStore,
): FileContent | Promise<FileContent> {
  const size = typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
  checkFileSize(parseFilePath(path), size, limits);
  if (isEditable(size, limits)) {
    const text = typeof content === "string" ? content.toWellFormed() : decodeText(content);
    if (text !== undefined && !text.includes("\0")) return text;
  }
  return storeBlob(typeof content === "string" ? new TextEncoder().encode(content) : content, path, blobs);
}

async function storeBlob(bytes: Uint8Array, path: string, blobs: Blobs): Promise<FileContent> {
  const fallbackType = decodeText(bytes) === undefined ? "application/octet-stream" : "text/plain";
  return { blob: await blobs.put(bytes), size: bytes.byteLength, mediaType: getMediaType(path, fallbackType) };
}

export async function readContent(content: FileContent, path: string, blobs: Blobs): Promise<Uint8Array> {
  if (typeof content === "string") return new TextEncoder().encode(content);
  const bytes = await blobs.get(content.blob);
  if (!bytes) throw fail("unavailable", `The content of “${path}” is missing from the blob store.`);
  return bytes;
}
