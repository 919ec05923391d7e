import { crc32, inflateRawSync } from "node:zlib";
import { fail, parseFilePath } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import type { Work } from "../../host/fair-work.ts";
import { createDamagedError, type ZipDirectory, type ZipDirectoryEntry, readName, readDirectory } from "./directory.ts";

/** A validated file in a zip that is not unpacked yet. */
export interface PackedFile {
  path: string;
  size: number;
  unpack(): Uint8Array;
}

const megabyte = 1024 * 1024;
const unitsPerEntry = 10;
const headSignature = 0x04034b50;
const headLength = 30;

/** The highest compression ratio that deflate can reach. */
const maxCompressionRatio = 1032;

const fileKinds = { mask: 0o170000, file: 0o100000, folder: 0o040000, link: 0o120000 };

/**
 * Lists the files of a zip. Validates everything that can be checked without unpacking, so that an invalid zip is
 * rejected before anything is stored.
 */
export function* listZipFiles(
  bytes: Uint8Array,
  limits: Pick<WorkspaceLimits, "maxFiles" | "maxFileMb" | "maxTotalMb">,
): Work<PackedFile[]> {
  const zip = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const directory = readDirectory(zip);
  yield unitsPerEntry * directory.entries.length;
  const files = directory.entries.filter((entry) => isFile(entry));
  if (files.length > limits.maxFiles)
    throw fail("too_large", `This zip has ${files.length} files; a workspace can have at most ${limits.maxFiles}.`);
  let total = 0;
  for (const { name, size } of files) {
    if (size > limits.maxFileMb * megabyte)
      throw fail("too_large", `“${sanitizeName(name)}” is too large: a file can have at most ${limits.maxFileMb} MB.`);
    total += size;
  }
  if (total > limits.maxTotalMb * megabyte)
    throw fail(
      "too_large",
      `The files in this zip are too large: a workspace can have at most ${limits.maxTotalMb} MB.`,
    );
  const offsets = locateEntries(zip, directory);
  yield unitsPerEntry * directory.entries.length;
  const packedFiles = new Map<string, PackedFile>();
  for (const entry of files) {
    const path = parseFilePath(entry.name);
    if (packedFiles.has(path)) throw fail("bad_request", `This zip contains “${sanitizeName(entry.name)}” twice.`);
    const packed = bytes.subarray(offsets.get(entry) ?? 0, (offsets.get(entry) ?? 0) + entry.packedSize);
    packedFiles.set(path, { path, size: entry.size, unpack: () => unpackEntry(entry, packed) });
    yield unitsPerEntry;
  }
  return [...packedFiles.values()];
}

/** Returns false for folders: they exist only through their files, but their names are validated too. */
function isFile({ name, flags, method, mode, size }: ZipDirectoryEntry): boolean {
  const createEntryError = (reason: string) => fail("bad_request", `“${sanitizeName(name)}” in this zip ${reason}.`);
  const kind = mode & fileKinds.mask;
  if (kind === fileKinds.link) throw createEntryError("is a symbolic link; workspaces do not support links");
  if (name.endsWith("/") || kind === fileKinds.folder) {
    parseFilePath(name.replace(/\/+$/, ""));
    if (size > 0) throw createEntryError("is a folder but has content");
    return false;
  }
  if (kind !== 0 && kind !== fileKinds.file) throw createEntryError("is neither a file nor a folder");
  if (flags & 0x2041) throw createEntryError("is encrypted; create the zip without a password");
  if (method !== 0 && method !== 8)
    throw createEntryError(`uses the unsupported compression method ${method}; use deflate`);
  return true;
}

/**
 * Returns the offset of each entry's data. Entries must not overlap: a zip of a few kilobytes whose files all share the
 * same bytes would unpack to more than fits anywhere.
 */
function locateEntries(zip: DataView, { entries, at: directory }: ZipDirectory): Map<ZipDirectoryEntry, number> {
  const offsets = new Map<ZipDirectoryEntry, number>();
  let previousEnd = 0;
  for (const entry of entries.toSorted((a, b) => a.at - b.at)) {
    const { at, name, packedSize, size, method } = entry;
    if (at < previousEnd) throw createDamagedError(`“${sanitizeName(name)}” overlaps another file`);
    if (at + headLength > directory || zip.getUint32(at, true) !== headSignature)
      throw createDamagedError(`“${sanitizeName(name)}” has no local header`);
    const nameLength = zip.getUint16(at + 26, true);
    const from = at + headLength + nameLength + zip.getUint16(at + 28, true);
    if (from + packedSize > directory) throw createDamagedError(`“${sanitizeName(name)}” is truncated`);
    if (readName(zip, at + headLength, nameLength) !== name)
      throw createDamagedError(`“${sanitizeName(name)}” has a different name in its local header`);
    if (method === 0 ? size !== packedSize : size > packedSize * maxCompressionRatio)
      throw createDamagedError(`“${sanitizeName(name)}” declares an impossible size`);
    offsets.set(entry, from);
    previousEnd = from + packedSize;
  }
  return offsets;
}

function unpackEntry({ name, method, size, crc }: ZipDirectoryEntry, packed: Uint8Array): Uint8Array {
  const data = method === 0 ? packed : inflateEntry(name, packed, size);
  if (data.length > size) throw createTooLargeError(name);
  if (data.length < size || crc32(data) !== crc)
    throw createDamagedError(`“${sanitizeName(name)}” does not match its size or checksum`);
  return data;
}

/** workerd grows the output buffer by doubling, so a limit of exactly `size` would reject some valid files. */
const getMaxOutputBytes = (size: number) => 2 * size + 64 * 1024;

/** Stops soon after the declared size, however much data there is. */
function inflateEntry(name: string, packed: Uint8Array, size: number): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: getMaxOutputBytes(size) });
  } catch {
    throw createTooLargeError(name);
  }
}

const createTooLargeError = (name: string) =>
  createDamagedError(`“${sanitizeName(name)}” cannot be decompressed or is larger than it declares`);

// oxlint-disable-next-line no-control-regex -- names in a zip may contain them
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

const sanitizeName = (name: string) => name.slice(0, 100).replace(unprintable, "\ufffd");
