import type { BufferEncoding } from "just-bash/browser";
import { type FileBody, fromLatin, toLatin, encodeLatin } from "./file-body.ts";

/** The encoding option of the interpreter's file system. */
export type Encoding = { encoding?: BufferEncoding | null } | BufferEncoding;

export function getEncoding(options: Encoding | undefined): BufferEncoding | undefined {
  return (typeof options === "string" ? options : options?.encoding) ?? undefined;
}

export function encodeFileBody(body: FileBody, encoding: BufferEncoding | undefined): string {
  if (encoding === "binary" || encoding === "latin1") return body.latin();
  if (encoding === "base64") return btoa(body.latin());
  if (encoding === "hex") return Array.from(body.bytes(), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return body.text();
}

/** Converts content to a string in which each character is a byte. */
export function decodeToLatin(content: string | Uint8Array, encoding: BufferEncoding | undefined): string {
  if (typeof content !== "string") return toLatin(content);
  // Only the low byte of each character counts.
  if (encoding === "binary" || encoding === "latin1")
    return /[^\0-\xff]/.test(content) ? toLatin(fromLatin(content)) : content;
  if (encoding === "base64") return atob(content);
  if (encoding === "hex") return content.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16)));
  return encodeLatin(content);
}
