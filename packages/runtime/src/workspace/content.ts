import { createHash } from "node:crypto";
import type { BlobContent, FileContent } from "@thinkery/sdk";

/** Metadata of a file's content. */
export interface ContentInfo {
  hash: string;
  size: number;
  mediaType: string;
  /** The blob's hash, if the content is not stored in the row. */
  blob?: string;
}

export interface ContentWithInfo {
  info: ContentInfo;
  content: FileContent;
}

/** Same hash as for the bytes, so a file that becomes a blob and then text again keeps its hash. */
export function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function getContentInfo(content: FileContent, path: string): ContentInfo {
  if (typeof content !== "string")
    return { hash: content.blob, size: content.size, mediaType: content.mediaType, blob: content.blob };
  return { hash: hashText(content), size: Buffer.byteLength(content), mediaType: getMediaType(path, "text/plain") };
}

export function toContentWithInfo(content: FileContent, path: string): ContentWithInfo {
  return { info: getContentInfo(content, path), content };
}

export function isSameContent(a: FileContent | undefined, b: FileContent | undefined): boolean {
  if (typeof a === "object" && typeof b === "object") return a.blob === b.blob;
  return a === b;
}

/** Units of work to hash, compare or copy a text. */
export function countTextUnits(content: FileContent | undefined): number {
  return typeof content === "string" ? content.length / 100 : 0;
}

export function toBlobContent({ blob = "", size, mediaType }: ContentInfo): BlobContent {
  return { blob, size, mediaType };
}

/** Decodes UTF-8 text. Returns undefined if the bytes are not text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const mediaTypes: Record<string, string> = {
  avif: "image/avif",
  bmp: "image/bmp",
  css: "text/css",
  csv: "text/csv",
  gif: "image/gif",
  gz: "application/gzip",
  htm: "text/html",
  html: "text/html",
  ico: "image/x-icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript",
  json: "application/json",
  jsonc: "application/json",
  jsx: "text/javascript",
  md: "text/markdown",
  mjs: "text/javascript",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  tar: "application/x-tar",
  ts: "text/typescript",
  tsx: "text/typescript",
  wasm: "application/wasm",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
  woff2: "font/woff2",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip",
};

export function getMediaType(path: string, fallback: string): string {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(mediaTypes, extension) ? (mediaTypes[extension] as string) : fallback;
}
