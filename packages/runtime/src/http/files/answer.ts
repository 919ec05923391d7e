import type { FileInfo, FileListQuery } from "@thinkery/sdk";
import { ofWorkspace } from "../answer.ts";

/** What a browser may show; nothing in it can run. All else it may only save. */
const shown = /^(?:text\/plain|image\/(?:png|jpeg|gif|webp|avif|bmp)|application\/pdf)$/;
const mediaType = /^[\w.+-]+\/[\w.+-]+$/;

/** A file as an answer: with its body, or without one where the asker knows it or only wants to hear of it. */
export function fileAnswer(file: FileInfo, body: BodyInit | null, { status = 200, download = false }: { status?: number; download?: boolean } = {}): Response {
  const type = mediaType.test(file.mediaType) ? file.mediaType : "application/octet-stream";
  return ofWorkspace(body, status, {
    "content-type": file.kind === "text" ? `${type}; charset=utf-8` : type,
    "content-disposition": disposition(!download && shown.test(type) ? "inline" : "attachment", file.path.split("/").at(-1) ?? ""),
    etag: `"${file.hash}"`,
    "last-modified": new Date(file.modifiedAt).toUTCString(),
    "x-thinkery-kind": file.kind,
    "x-thinkery-version": String(file.version),
  });
}

export function archiveAnswer(body: ReadableStream<Uint8Array> | null, agent: string, { version }: Pick<FileListQuery, "version">): Response {
  const name = `${agent}${version === undefined ? "" : `-${version}`}.zip`;
  return ofWorkspace(body, 200, { "content-type": "application/zip", "content-disposition": disposition("attachment", name) });
}

function disposition(kind: "inline" | "attachment", name: string): string {
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  return `${kind}; filename*=UTF-8''${encoded}`;
}
