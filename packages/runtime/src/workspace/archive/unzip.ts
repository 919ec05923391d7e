import { crc32, inflateRawSync } from "node:zlib";
import { fail, parseFilePath } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import { createDamagedError, type ZipDirectory, type ZipDirectoryEntry, readName, readDirectory } from "./directory.ts";

/** A file in a zip that was looked at and not yet unpacked. */
export interface PackedFile {
  path: string;
  size: number;
  unpack(): Uint8Array;
}

const megabyte = 1024 * 1024;
const headSignature = 0x04034b50;
const headLength = 30;

/** Nothing gets longer than this by being unpacked. */
const maxCompressionRatio = 1032;

const fileKinds = { mask: 0o170000, file: 0o100000, folder: 0o040000, link: 0o120000 };

/**
 * The files of a zip. Everything that can be known of them without unpacking is looked at here, so that a zip that
 * would be refused is refused before anything is stored.
 */
export function listZipFiles(
  bytes: Uint8Array,
  limits: Pick<WorkspaceLimits, "maxFiles" | "maxFileMb" | "maxTotalMb">,
): PackedFile[] {
  const zip = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const directory = readDirectory(zip);
  const files = directory.entries.filter((entry) => isFile(entry));
  if (files.length > limits.maxFiles)
    throw fail("too_large", `This zip has ${files.length} files, and a workspace may have ${limits.maxFiles}.`);
  let total = 0;
  for (const { name, size } of files) {
    if (size > limits.maxFileMb * megabyte)
      throw fail("too_large", `“${sanitizeName(name)}” is too large: a file may have ${limits.maxFileMb} MB.`);
    total += size;
  }
  if (total > limits.maxTotalMb * megabyte)
    throw fail("too_large", `What is in this zip is too large: a workspace may have ${limits.maxTotalMb} MB.`);
  const places = locateEntries(zip, directory);
  const seen = new Set<string>();
  return files.map((entry) => {
    const path = parseFilePath(entry.name);
    if (seen.has(path)) throw fail("bad_request", `This zip has “${sanitizeName(entry.name)}” twice.`);
    seen.add(path);
    const packed = bytes.subarray(places.get(entry) ?? 0, (places.get(entry) ?? 0) + entry.packedSize);
    return { path, size: entry.size, unpack: () => unpackEntry(entry, packed) };
  });
}

/** Folders come and go with what is in them; still, their names may not lead anywhere else. */
function isFile({ name, flags, method, mode, size }: ZipDirectoryEntry): boolean {
  const createEntryError = (why: string) => fail("bad_request", `“${sanitizeName(name)}” in this zip ${why}.`);
  const kind = mode & fileKinds.mask;
  if (kind === fileKinds.link) throw createEntryError("is a symbolic link, which a workspace does not have");
  if (name.endsWith("/") || kind === fileKinds.folder) {
    parseFilePath(name.replace(/\/+$/, ""));
    if (size > 0) throw createEntryError("is a folder and has something in it");
    return false;
  }
  if (kind !== 0 && kind !== fileKinds.file) throw createEntryError("is neither a file nor a folder");
  if (flags & 0x2041) throw createEntryError("is encrypted; pack it without a password");
  if (method !== 0 && method !== 8)
    throw createEntryError(`is packed in a way that is not read here (${method}); use “deflate”`);
  return true;
}

/**
 * Where what is packed begins, of each. None may lie in another: a zip of a few kilobytes whose files all share the
 * same bytes would unpack to more than there is room for.
 */
function locateEntries(zip: DataView, { entries, at: directory }: ZipDirectory): Map<ZipDirectoryEntry, number> {
  const places = new Map<ZipDirectoryEntry, number>();
  let free = 0;
  for (const entry of entries.toSorted((one, other) => one.at - other.at)) {
    const { at, name, packedSize, size, method } = entry;
    if (at < free) throw createDamagedError(`“${sanitizeName(name)}” lies in another file`);
    if (at + headLength > directory || zip.getUint32(at, true) !== headSignature)
      throw createDamagedError(`“${sanitizeName(name)}” is not there`);
    const nameLength = zip.getUint16(at + 26, true);
    const from = at + headLength + nameLength + zip.getUint16(at + 28, true);
    if (from + packedSize > directory) throw createDamagedError(`“${sanitizeName(name)}” is cut off`);
    if (readName(zip, at + headLength, nameLength) !== name)
      throw createDamagedError(`“${sanitizeName(name)}” has another name in a second place`);
    if (method === 0 ? size !== packedSize : size > packedSize * maxCompressionRatio)
      throw createDamagedError(`“${sanitizeName(name)}” cannot be as large as it says`);
    places.set(entry, from);
    free = from + packedSize;
  }
  return places;
}

function unpackEntry({ name, method, size, crc }: ZipDirectoryEntry, packed: Uint8Array): Uint8Array {
  const data = method === 0 ? packed : inflateEntry(name, packed, size);
  if (data.length > size) throw createTooLargeError(name);
  if (data.length < size || crc32(data) !== crc) throw createDamagedError(`“${sanitizeName(name)}” is not what it was`);
  return data;
}

/** Room for what is there, which workerd makes by doubling: with no more than that, some files would not fit that do. */
const getMaxOutputBytes = (size: number) => 2 * size + 64 * 1024;

/** Hardly more than it says, however much there would be. */
function inflateEntry(name: string, packed: Uint8Array, size: number): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: getMaxOutputBytes(size) });
  } catch {
    throw createTooLargeError(name);
  }
}

const createTooLargeError = (name: string) =>
  createDamagedError(`“${sanitizeName(name)}” cannot be unpacked, or is larger than it says`);

// oxlint-disable-next-line no-control-regex -- these are what is replaced
const sanitizeName = (name: string) =>
  name.slice(0, 100).replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
