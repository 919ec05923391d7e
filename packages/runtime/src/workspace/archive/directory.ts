import { fail } from "@thinkery/sdk";

/** An entry of the central directory of a zip. */
export interface ZipDirectoryEntry {
  name: string;
  flags: number;
  method: number;
  crc: number;
  packedSize: number;
  size: number;
  /** Unix file type and permissions; 0 if the zip was written on another system. */
  mode: number;
  /** Offset of the local header. */
  at: number;
}

export interface ZipDirectory {
  entries: ZipDirectoryEntry[];
  /** Offset of the directory; all file data comes before it. */
  at: number;
}

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const maxCommentBytes = 0xffff;
/** Systems that store a Unix file type, by their number in the format. */
const unixSystems = new Set([3, 19]);
const endLength = 22;

export const createDamagedError = (reason: string) => fail("bad_request", `Not a valid zip file: ${reason}.`);

/** Reads the central directory. Data that is not listed in it is ignored. */
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
    throw fail("bad_request", "This zip is part of a split archive. Upload it as a single file.");
  }
  if (at + size !== end) throw createDamagedError("its directory is at the wrong offset");
  const entries: ZipDirectoryEntry[] = [];
  let next = at;
  for (let index = 0; index < count; index++) {
    const { entry, length } = readEntry(zip, next, end);
    entries.push(entry);
    next += length;
  }
  if (next !== end) throw createDamagedError("its directory contains unexpected data");
  return { entries, at };
}

/** Searches backwards for the end record, because a comment may follow it. */
function findEnd(zip: DataView): number {
  const last = zip.byteLength - endLength;
  for (let at = last; at >= Math.max(0, last - maxCommentBytes); at--) {
    if (zip.getUint32(at, true) === endSignature && zip.getUint16(at + 20, true) === last - at) return at;
  }
  throw createDamagedError("the end record is missing");
}

function readEntry(zip: DataView, at: number, end: number): { entry: ZipDirectoryEntry; length: number } {
  if (at + 46 > end || zip.getUint32(at, true) !== entrySignature)
    throw createDamagedError("its directory is truncated");
  const nameLength = zip.getUint16(at + 28, true);
  const length = 46 + nameLength + zip.getUint16(at + 30, true) + zip.getUint16(at + 32, true);
  if (at + length > end) throw createDamagedError("its directory is truncated");
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

// Most programs write UTF-8, though not all set the flag for it. Other encodings could only be guessed.
export function readName(zip: DataView, at: number, length: number): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      new Uint8Array(zip.buffer, zip.byteOffset + at, length),
    );
  } catch {
    throw fail("bad_request", "A file name in this zip is not UTF-8. Create the zip with another program.");
  }
}

const createZip64Error = () =>
  fail("bad_request", "This zip uses the zip64 format, which is not supported. Create a smaller zip.");
