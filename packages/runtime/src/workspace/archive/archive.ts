import { deflateRawSync } from "node:zlib";
import { type ArchiveQuery, fail, type FileEdit, type FileInfo } from "@thinkery/sdk";
import { type Deflate, type ZipEntry, zipFiles } from "@thinkery/sdk/internal";
import type { VersionRef, Workspace } from "../workspace.ts";
import { listZipFiles } from "./unzip.ts";

const megabyte = 1024 * 1024;

/** Compressing happens on the one thread that all agents share, so speed matters more than size. */
const compressionLevel = 3;

/** Media types that are compressed already. */
const compressedMediaTypes =
  /^(?:image\/(?:png|jpeg|gif|webp|avif)|audio\/mpeg|video\/.*|application\/(?:zip|gzip|pdf)|font\/woff2)$/;

/** Bytes of a large file that are compressed to see if compressing all of it is worth the time. */
const sampleBytes = 64 * 1024;

const deflate: Deflate = (data, { store }) =>
  deflateRawSync(data, { level: store || !isCompressible(data) ? 0 : compressionLevel });

function isCompressible(data: Uint8Array): boolean {
  if (data.length <= 4 * sampleBytes) return true;
  return deflateRawSync(data.subarray(0, sampleBytes), { level: compressionLevel }).length <= 0.98 * sampleBytes;
}

/** All files as a zip, as of one version: whoever changes something meanwhile does not change it here. */
export function createArchive(
  workspace: Workspace,
  { branch, version, under }: ArchiveQuery,
): ReadableStream<Uint8Array> {
  const at = { branch, version: version ?? (workspace.latest(branch) || undefined) };
  // Asked before the answer begins: a branch or version may not be there.
  const { files } = workspace.list({ ...at, under });
  return toByteStream(gatherPieces(zipFiles(readZipEntries(workspace, files, at), deflate)));
}

/** Everybody shares one thread, so after some work others have their turn. A file counts for a few kilobytes, however small it is. */
class Yielder {
  #work = 0;

  async yieldIfDue(bytes: number): Promise<void> {
    this.#work += bytes + 8 * 1024;
    if (this.#work < megabyte) return;
    this.#work = 0;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

async function* readZipEntries(
  workspace: Workspace,
  files: readonly FileInfo[],
  at: VersionRef,
): AsyncGenerator<ZipEntry> {
  const yielder = new Yielder();
  for (const { path, mediaType, modifiedAt, size } of files) {
    await yielder.yieldIfDue(size);
    // Most of the time nobody changes anything meanwhile, and what is there now takes less to read.
    const data = await workspace.readFile(
      path,
      workspace.latest(at.branch) === at.version ? { branch: at.branch } : at,
    );
    if (data) yield { path, data, modifiedAt: new Date(modifiedAt), stored: compressedMediaTypes.test(mediaType) };
  }
}

/** What a zip would write, and with `replace` what it would delete. */
export async function readArchiveEdits(
  workspace: Workspace,
  zip: Uint8Array,
  { branch, replace }: { branch?: string | undefined; replace: boolean },
): Promise<FileEdit[]> {
  const { limits } = workspace;
  const files = listZipFiles(zip, limits);
  const edits: FileEdit[] = [];
  const yielder = new Yielder();
  let texts = 0;
  for (const { path, size, unpack } of files) {
    await yielder.yieldIfDue(size);
    const content = await workspace.store(unpack(), path);
    // Blobs lie on the disk by now; texts are all in memory until the end.
    if (typeof content === "string") texts += Buffer.byteLength(content);
    if (texts > limits.maxTextMb * megabyte)
      throw fail(
        "too_large",
        `The texts in this zip are too large: a workspace may have ${limits.maxTextMb} MB of them.`,
      );
    edits.push({ write: path, content });
  }
  if (!replace) return edits;
  const kept = new Set(files.map(({ path }) => path));
  const gone = workspace.list({ branch }).files.filter(({ path }) => !kept.has(path));
  return [...gone.map(({ path }) => ({ delete: path })), ...edits];
}

/** Every piece is a call to whoever reads, so small ones go together; and large ones go bit by bit, without a second copy of all. */
const pieceBytes = 256 * 1024;

async function* gatherPieces(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  // What is handed over is taken away with all of its buffer, which a `Buffer` may share with others.
  let page = new Uint8Array(pieceBytes);
  let filled = 0;
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length;) {
      const part = piece.subarray(from, from + pieceBytes - filled);
      page.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled < pieceBytes) continue;
      yield page;
      page = new Uint8Array(pieceBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield page.slice(0, filled);
}

/** Pulled piece by piece: nothing is made ahead of a slow reader. */
function toByteStream(pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (!done) return controller.enqueue(value);
      controller.close();
      controller.byobRequest?.respond(0);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}
