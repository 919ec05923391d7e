import { fail } from "@thinkery/sdk";

/** An entry as the directory at the end of a zip has it. */
export interface ZipDirectoryEntry {
  name: string;
  flags: number;
  method: number;
  crc: number;
  packedSize: number;
  size: number;
  /** The kind and permissions that a Unix system gave it; 0 where another wrote it. */
  mode: number;
  /** Where it begins. */
  at: number;
}

export interface ZipDirectory {
  entries: ZipDirectoryEntry[];
  /** Where it begins: all that is packed lies before. */
  at: number;
}

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const maxCommentBytes = 0xffff;
/** Systems that say what kind of file something is, by their numbers in the format. */
const unixSystems = new Set([3, 19]);
const endLength = 22;

export const createDamagedError = (why: string) => fail("bad_request", `This zip is damaged, or is none: ${why}.`);

/** The directory of a zip: what is not in it does not exist, whatever else the bytes say. */
export function readDirectory(zip: DataView): ZipDirectory {
  const end = findEnd(zip);
  const count = zip.getUint16(end + 10, true);
  const size = zip.getUint32(end + 12, true);
  const at = zip.getUint32(end + 16, true);
  if (count === 0xffff || size === 0xffffffff || at === 0xffffffff) throw createZip64Error();
  if (
    zip.getUint16(end + 4, true) !== 0 ||
    zip.getUint16(end + 6, true) !== 0 ||
    zip.getUint16(end + 8, true) !== count
  ) {
    throw fail("bad_request", "This zip is one part of several; send it in one.");
  }
  if (at + size !== end) throw createDamagedError("its directory is not where it should be");
  const entries: ZipDirectoryEntry[] = [];
  let next = at;
  for (let index = 0; index < count; index++) {
    const { entry, length } = readEntry(zip, next, end);
    entries.push(entry);
    next += length;
  }
  if (next !== end) throw createDamagedError("its directory has something else in it");
  return { entries, at };
}

/** The last record of a zip is found from behind: a comment of any length may follow it. */
function findEnd(zip: DataView): number {
  const last = zip.byteLength - endLength;
  for (let at = last; at >= Math.max(0, last - maxCommentBytes); at--) {
    if (zip.getUint32(at, true) === endSignature && zip.getUint16(at + 20, true) === last - at) return at;
  }
  throw createDamagedError("it has no end");
}

function readEntry(zip: DataView, at: number, end: number): { entry: ZipDirectoryEntry; length: number } {
  if (at + 46 > end || zip.getUint32(at, true) !== entrySignature) throw createDamagedError("its directory is cut off");
  const nameLength = zip.getUint16(at + 28, true);
  const length = 46 + nameLength + zip.getUint16(at + 30, true) + zip.getUint16(at + 32, true);
  if (at + length > end) throw createDamagedError("its directory is cut off");
  const entry: ZipDirectoryEntry = {
    name: readName(zip, at + 46, nameLength),
    flags: zip.getUint16(at + 8, true),
    method: zip.getUint16(at + 10, true),
    crc: zip.getUint32(at + 16, true),
    packedSize: zip.getUint32(at + 20, true),
    size: zip.getUint32(at + 24, true),
    mode: unixSystems.has(zip.getUint8(at + 5)) ? zip.getUint16(at + 40, true) : 0,
    at: zip.getUint32(at + 42, true),
  };
  if ([entry.packedSize, entry.size, entry.at].includes(0xffffffff)) throw createZip64Error();
  return { entry, length };
}

// Most programs write UTF-8 and not all of them say so. What is in another encoding cannot be read without guessing.
export function readName(zip: DataView, at: number, length: number): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      new Uint8Array(zip.buffer, zip.byteOffset + at, length),
    );
  } catch {
    throw fail("bad_request", "A name in this zip is not UTF-8; pack it with another program.");
  }
}

const createZip64Error = () =>
  fail("bad_request", "This zip is in the 64-bit form (zip64), which is not read here; pack less into it.");
