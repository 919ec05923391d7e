import type { FileListQuery } from "@thinkery/sdk";
import type { FileReadResult } from "../../objects/files-api.ts";
import type { Transfer } from "../../objects/transfer.ts";
import { toWorkspaceResponse } from "../response.ts";

/** Types that a browser may display, because nothing in them can run. Others can only be downloaded. */
const inlineTypes = /^(?:text\/plain|image\/(?:png|jpeg|gif|webp|avif|bmp)|application\/pdf)$/;
const mediaTypePattern = /^[\w.+-]+\/[\w.+-]+$/;

/** Responds with a file or a part of it; without a body if the client has it already or only asked for metadata. */
export function toFileResponse(
  { file, body, part, isKnown }: FileReadResult,
  { download }: { download: boolean },
): Response {
  const type = mediaTypePattern.test(file.mediaType) ? file.mediaType : "application/octet-stream";
  const headers = {
    "accept-ranges": "bytes",
    "content-type": file.kind === "text" ? `${type}; charset=utf-8` : type,
    "content-disposition": formatDisposition(
      !download && inlineTypes.test(type) ? "inline" : "attachment",
      file.path.split("/").at(-1) ?? "",
    ),
    etag: `"${file.hash}"`,
    "last-modified": new Date(file.modifiedAt).toUTCString(),
    "x-thinkery-kind": file.kind,
    "x-thinkery-version": String(file.version),
  };
  if (isKnown) return toWorkspaceResponse(null, 304, headers);
  if (part === "outside")
    return toWorkspaceResponse(null, 416, { ...headers, "content-range": `bytes */${file.size}` });
  if (!body) return toWorkspaceResponse(null, 200, { ...headers, "content-length": String(file.size) });
  if (!part) return toWorkspaceResponse(fixLength(body, file.size), 200, headers);
  return toWorkspaceResponse(fixLength(body, part.to - part.from), 206, {
    ...headers,
    "content-range": `bytes ${part.from}-${part.to - 1}/${file.size}`,
  });
}

/** A stream only gets a content-length this way. */
function fixLength(body: Transfer, size: number): BodyInit {
  return body instanceof ReadableStream ? body.pipeThrough(new FixedLengthStream(size)) : body;
}

export function toArchiveResponse(
  body: ReadableStream<Uint8Array> | null,
  agent: string,
  { version }: Pick<FileListQuery, "version">,
): Response {
  const name = `${agent}${version === undefined ? "" : `-${version}`}.zip`;
  return toWorkspaceResponse(body, 200, {
    "content-type": "application/zip",
    "content-disposition": formatDisposition("attachment", name),
  });
}

function formatDisposition(kind: "inline" | "attachment", name: string): string {
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename*=UTF-8''${encoded}`;
}
