import { crc32, inflateRawSync } from "node:zlib";
import { fail, filePath } from "@thinkery/sdk";
import type { WorkspaceLimits } from "@thinkery/sdk/internal";
import { damaged, type Directory, type Entry, nameIn, readDirectory } from "./directory.ts";

/** A file in a zip that was looked at and not yet unpacked. */
export interface Packed {
  path: string;
  size: number;
  unpack(): Uint8Array;
}

const megabyte = 1024 * 1024;
const headSignature = 0x04034b50;
const headLength = 30;

/** Nothing gets longer than this by being unpacked. */
const maxCompressionRatio = 1032;

const kinds = { mask: 0o170000, file: 0o100000, folder: 0o040000, link: 0o120000 };

/**
 * The files of a zip. Everything that can be known of them without unpacking is looked at here, so that a zip that
 * would be refused is refused before anything is stored.
 */
export function filesIn(bytes: Uint8Array, limits: Pick<WorkspaceLimits, "files" | "fileMb" | "totalMb">): Packed[] {
  const zip = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const directory = readDirectory(zip);
  const files = directory.entries.filter((entry) => isFile(entry));
  if (files.length > limits.files) throw fail("too_large", `This zip has ${files.length} files, and a workspace may have ${limits.files}.`);
  let total = 0;
  for (const { name, size } of files) {
    if (size > limits.fileMb * megabyte) throw fail("too_large", `“${shown(name)}” is too large: a file may have ${limits.fileMb} MB.`);
    total += size;
  }
  if (total > limits.totalMb * megabyte) throw fail("too_large", `What is in this zip is too large: a workspace may have ${limits.totalMb} MB.`);
  const places = placesOf(zip, directory);
  const seen = new Set<string>();
  return files.map((entry) => {
    const path = filePath(entry.name);
    if (seen.has(path)) throw fail("bad_request", `This zip has “${shown(entry.name)}” twice.`);
    seen.add(path);
    const packed = bytes.subarray(places.get(entry) ?? 0, (places.get(entry) ?? 0) + entry.packedSize);
    return { path, size: entry.size, unpack: () => unpacked(entry, packed) };
  });
}

/** Folders come and go with what is in them; still, their names may not lead anywhere else. */
function isFile({ name, flags, method, mode, size }: Entry): boolean {
  const refused = (why: string) => fail("bad_request", `“${shown(name)}” in this zip ${why}.`);
  const kind = mode & kinds.mask;
  if (kind === kinds.link) throw refused("is a symbolic link, which a workspace does not have");
  if (name.endsWith("/") || kind === kinds.folder) {
    filePath(name.replace(/\/+$/, ""));
    if (size > 0) throw refused("is a folder and has something in it");
    return false;
  }
  if (kind !== 0 && kind !== kinds.file) throw refused("is neither a file nor a folder");
  if (flags & 0x2041) throw refused("is encrypted; pack it without a password");
  if (method !== 0 && method !== 8) throw refused(`is packed in a way that is not read here (${method}); use “deflate”`);
  return true;
}

/**
 * Where what is packed begins, of each. None may lie in another: a zip of a few kilobytes whose files all share the
 * same bytes would unpack to more than there is room for.
 */
function placesOf(zip: DataView, { entries, at: directory }: Directory): Map<Entry, number> {
  const places = new Map<Entry, number>();
  let free = 0;
  for (const entry of entries.toSorted((one, other) => one.at - other.at)) {
    const { at, name, packedSize, size, method } = entry;
    if (at < free) throw damaged(`“${shown(name)}” lies in another file`);
    if (at + headLength > directory || zip.getUint32(at, true) !== headSignature) throw damaged(`“${shown(name)}” is not there`);
    const nameLength = zip.getUint16(at + 26, true);
    const from = at + headLength + nameLength + zip.getUint16(at + 28, true);
    if (from + packedSize > directory) throw damaged(`“${shown(name)}” is cut off`);
    if (nameIn(zip, at + headLength, nameLength) !== name) throw damaged(`“${shown(name)}” has another name in a second place`);
    if (method === 0 ? size !== packedSize : size > packedSize * maxCompressionRatio) throw damaged(`“${shown(name)}” cannot be as large as it says`);
    places.set(entry, from);
    free = from + packedSize;
  }
  return places;
}

function unpacked({ name, method, size, crc }: Entry, packed: Uint8Array): Uint8Array {
  const data = method === 0 ? packed : inflated(name, packed, size);
  if (data.length > size) throw larger(name);
  if (data.length < size || crc32(data) !== crc) throw damaged(`“${shown(name)}” is not what it was`);
  return data;
}

/** Room for what is there, which workerd makes by doubling: with no more than that, some files would not fit that do. */
const roomFor = (size: number) => 2 * size + 64 * 1024;

/** Hardly more than it says, however much there would be. */
function inflated(name: string, packed: Uint8Array, size: number): Uint8Array {
  try {
    return inflateRawSync(packed, { maxOutputLength: roomFor(size) });
  } catch {
    throw larger(name);
  }
}

const larger = (name: string) => damaged(`“${shown(name)}” cannot be unpacked, or is larger than it says`);

// oxlint-disable-next-line no-control-regex -- these are what is replaced
const shown = (name: string) => name.slice(0, 100).replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
