import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, read as readCallback, readSync } from "node:fs";
import { promisify } from "node:util";
import { type FileState, isSameState, toFileState } from "./file-state.ts";
import { withParentFolder, isMissing, type OpenFolder } from "./open-folder.ts";

const read = promisify(readCallback);

// Without O_NONBLOCK, opening a pipe waits for its other end.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Larger files are read asynchronously in pieces of this size. */
const pieceBytes = 1024 * 1024;

export interface Content {
  bytes: Buffer;
  hash: string;
  state: FileState;
}

/**
 * Reads a file with its state. Returns undefined if it is not a regular file, cannot be read, is larger than
 * `maxBytes`, or is being written at the moment.
 */
export async function readContent(root: string, path: string, maxBytes: number): Promise<Content | undefined> {
  const content = await readSettled(root, path, maxBytes);
  return content === "moving" ? undefined : content;
}

/** Like `readContent`, but returns "moving" if the file is being written at the moment. */
export async function readSettled(
  root: string,
  path: string,
  maxBytes: number,
): Promise<Content | "moving" | undefined> {
  const content = await readOnce(root, path, maxBytes);
  return content === "moving" ? readOnce(root, path, maxBytes) : content;
}

async function readOnce(root: string, path: string, maxBytes: number): Promise<Content | "moving" | undefined> {
  const descriptor = openFile(root, path);
  if (descriptor === undefined) return undefined;
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile() || found.size > maxBytes) return undefined;
    const bytes =
      found.size <= pieceBytes ? readWhole(descriptor, found.size) : await readInPieces(descriptor, found.size);
    const state = toFileState(found);
    if (!bytes || !isSameState(state, toFileState(fstatSync(descriptor)))) return "moving";
    return { bytes, state, hash: createHash("sha256").update(bytes).digest("hex") };
  } finally {
    closeSync(descriptor);
  }
}

/** Reads a small file of an open folder. Returns undefined if there is no regular file with that name. */
export function readSmall(folder: OpenFolder, name: string, maxBytes: number): Buffer | "too long" | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(folder.resolve(name), flags);
  } catch {
    return undefined;
  }
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) return undefined;
    return found.size <= maxBytes ? readWhole(descriptor, found.size) : "too long";
  } finally {
    closeSync(descriptor);
  }
}

function openFile(root: string, path: string): number | undefined {
  try {
    return withParentFolder(root, path, (chain, names) =>
      openSync((chain.at(-1) as OpenFolder).resolve(names.at(-1) as string), flags),
    );
  } catch (error) {
    if (isMissing(error) || ["EACCES", "EPERM", "ENXIO"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return undefined;
    throw error;
  }
}

function readWhole(descriptor: number, size: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(size);
  for (let at = 0; at < size;) {
    const count = readSync(descriptor, bytes, at, size - at, at);
    if (count === 0) return undefined;
    at += count;
  }
  return bytes;
}

async function readInPieces(descriptor: number, size: number): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafe(size);
  for (let at = 0; at < size;) {
    const { bytesRead } = await read(descriptor, bytes, at, Math.min(pieceBytes, size - at), at);
    if (bytesRead === 0) return undefined;
    at += bytesRead;
  }
  return bytes;
}
