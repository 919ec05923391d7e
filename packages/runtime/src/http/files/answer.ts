import type { FileListQuery } from "@thinkery/sdk";
import type { Cargo } from "../../objects/cargo.ts";
import type { ReadFile } from "../../objects/files-api.ts";
import { ofWorkspace } from "../answer.ts";

/** What a browser may show; nothing in it can run. All else it may only save. */
const shown = /^(?:text\/plain|image\/(?:png|jpeg|gif|webp|avif|bmp)|application\/pdf)$/;
const mediaType = /^[\w.+-]+\/[\w.+-]+$/;

/** A file as an answer: with its body or a part of it, or without one where the asker knows it or only wants to hear of it. */
export function fileAnswer({ file, body, part, isKnown }: ReadFile, { download }: { download: boolean }): Response {
  const type = mediaType.test(file.mediaType) ? file.mediaType : "application/octet-stream";
  const headers = {
    "accept-ranges": "bytes",
    "content-type": file.kind === "text" ? `${type}; charset=utf-8` : type,
    "content-disposition": disposition(!download && shown.test(type) ? "inline" : "attachment", file.path.split("/").at(-1) ?? ""),
    etag: `"${file.hash}"`,
    "last-modified": new Date(file.modifiedAt).toUTCString(),
    "x-thinkery-kind": file.kind,
    "x-thinkery-version": String(file.version),
  };
  if (isKnown) return ofWorkspace(null, 304, headers);
  if (part === "outside") return ofWorkspace(null, 416, { ...headers, "content-range": `bytes */${file.size}` });
  if (!body) return ofWorkspace(null, 200, { ...headers, "content-length": String(file.size) });
  if (!part) return ofWorkspace(measured(body, file.size), 200, headers);
  return ofWorkspace(measured(body, part.to - part.from), 206, { ...headers, "content-range": `bytes ${part.from}-${part.to - 1}/${file.size}` });
}

/** Whoever reads a stream is told how long it will be only this way. */
function measured(body: Cargo, size: number): BodyInit {
  return body instanceof ReadableStream ? body.pipeThrough(new FixedLengthStream(size)) : body;
}

export function archiveAnswer(body: ReadableStream<Uint8Array> | null, agent: string, { version }: Pick<FileListQuery, "version">): Response {
  const name = `${agent}${version === undefined ? "" : `-${version}`}.zip`;
  return ofWorkspace(body, 200, { "content-type": "application/zip", "content-disposition": disposition("attachment", name) });
}

function disposition(kind: "inline" | "attachment", name: string): string {
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${kind}; filename*=UTF-8''${encoded}`;
}
