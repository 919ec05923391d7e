import { deflateRawSync } from "node:zlib";
import { type ArchiveQuery, fail, type FileEdit, type FileInfo } from "@thinkery/sdk";
import { type Deflate, type ZipEntry, zipFiles } from "@thinkery/sdk/internal";
import { Pacer, runFairly } from "../../host/fair-work.ts";
import { blobUnits } from "../stored-content.ts";
import type { VersionRef, Workspace } from "../workspace.ts";
import { listZipFiles } from "./unzip.ts";

const megabyte = 1024 * 1024;

/** Compression runs on the thread that all agents share, so speed matters more than size. */
const compressionLevel = 3;

/** Media types that are compressed already. */
const compressedMediaTypes =
  /^(?:image\/(?:png|jpeg|gif|webp|avif)|audio\/mpeg|video\/.*|application\/(?:zip|gzip|pdf)|font\/woff2)$/;

/** Bytes of a large file that are compressed as a sample, to see if the whole file is worth compressing. */
const sampleBytes = 64 * 1024;

const deflate: Deflate = (data, { store }) =>
  deflateRawSync(data, { level: store || !isCompressible(data) ? 0 : compressionLevel });

function isCompressible(data: Uint8Array): boolean {
  if (data.length <= 4 * sampleBytes) return true;
  return deflateRawSync(data.subarray(0, sampleBytes), { level: compressionLevel }).length <= 0.98 * sampleBytes;
}

/** Streams all files as a zip, as of one version: concurrent changes do not affect it. */
export async function createArchive(
  workspace: Workspace,
  { branch, version, under }: ArchiveQuery,
): Promise<ReadableStream<Uint8Array>> {
  const at = { branch, version: version ?? (workspace.latest(branch) || undefined) };
  // Before the response begins, because the branch or version may not exist.
  const { files } = await workspace.runFairly(() => workspace.planList({ ...at, under }));
  return toByteStream(rechunk(zipFiles(readZipEntries(workspace, files, at), deflate)));
}

/** Units of work to read, compress or unpack a file. */
const countUnits = (size: number) => 400 + size / 50;
async function* readZipEntries(
  workspace: Workspace,
  files: readonly FileInfo[],
  at: VersionRef,
): AsyncGenerator<ZipEntry> {
  const pacer = new Pacer(workspace.writeGate.owner);
  for (const { path, mediaType, modifiedAt, size } of files) {
    await pacer.pauseIfDue(countUnits(size));
    // Usually nothing changes in the meantime, and current files are cheaper to read.
    const data = await workspace.readFile(
      path,
      workspace.latest(at.branch) === at.version ? { branch: at.branch } : at,
    );
    if (data) yield { path, data, modifiedAt: new Date(modifiedAt), stored: compressedMediaTypes.test(mediaType) };
  }
}

/** Returns the edits that write a zip's files and, with `replace`, delete all others. */
export async function readArchiveEdits(
  workspace: Workspace,
  zip: Uint8Array,
  { branch, replace }: { branch?: string | undefined; replace: boolean },
): Promise<FileEdit[]> {
  const { limits } = workspace;
  const files = await runFairly(() => listZipFiles(zip, limits), { owner: workspace.writeGate.owner });
  const edits: FileEdit[] = [];
  const pacer = new Pacer(workspace.writeGate.owner);
  let textBytes = 0;
  for (const { path, size, unpack } of files) {
    await pacer.pauseIfDue(countUnits(size));
    const content = await workspace.store(unpack(), path);
    // Blobs are already on disk; text stays in memory until the commit.
    if (typeof content === "string") textBytes += Buffer.byteLength(content);
    else await pacer.pauseIfDue(blobUnits);
    if (textBytes > limits.maxTextMb * megabyte)
      throw fail(
        "too_large",
        `The text files in this zip are too large: a workspace can have at most ${limits.maxTextMb} MB of text.`,
      );
    edits.push({ write: path, content });
  }
  if (!replace) return edits;
  const zipPaths = new Set(files.map(({ path }) => path));
  const others = workspace.list({ branch }).files.filter(({ path }) => !zipPaths.has(path));
  return [...others.map(({ path }) => ({ delete: path })), ...edits];
}

/** Combines small chunks, because each is a call to the reader, and splits large ones, to avoid a second full copy. */
const chunkBytes = 256 * 1024;

async function* rechunk(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  // Enqueuing transfers the whole underlying buffer, which a `Buffer` may share with others.
  let page = new Uint8Array(chunkBytes);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length;) {
      const part = chunk.subarray(from, from + chunkBytes - filled);
      page.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled < chunkBytes) continue;
      yield page;
      page = new Uint8Array(chunkBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield page.slice(0, filled);
}

/** Pull-based: nothing is produced ahead of a slow reader. */
function toByteStream(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (!done) return controller.enqueue(value);
      controller.close();
      controller.byobRequest?.respond(0);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}
