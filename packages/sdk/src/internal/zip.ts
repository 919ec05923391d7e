import { fail } from "../protocol/errors.ts";

/** A file on its way into a zip. */
export interface ZipEntry {
  path: string;
  data: Uint8Array;
  modifiedAt: Date;
  /** It would not get shorter. */
  stored?: boolean;
}

/** Makes bytes shorter as “deflate” does, without header or checksum. What is not given one is stored as it is. */
export type Deflate = (data: Uint8Array) => Uint8Array;

/** What the format has room for without its extension to 64 bits. */
const most = { files: 0xffff - 1, bytes: 0xffff_fffe };

const stored = 0;
const deflated = 8;
const namesAreUtf8 = 0x0800;
/** Version 2.0 of the format, as a Unix system writes it: only these have permissions. */
const madeBy = (3 << 8) | 20;
const plainFile = 0o100644;

/** Files as a zip, piece by piece: no more than one of them is held at a time. Every piece is the taker's own. */
export async function* zipFiles(files: AsyncIterable<ZipEntry> | Iterable<ZipEntry>, deflate?: Deflate): AsyncGenerator<Uint8Array> {
  const directory: Uint8Array[] = [];
  let at = 0;
  for await (const file of files) {
    const { head, entry, body } = packed(file, at, deflate);
    directory.push(entry);
    at += head.length + body.length;
    if (directory.length > most.files || at > most.bytes) throw fail("too_large", "That is more than a zip can hold; ask for one folder at a time.");
    yield head;
    if (body.length > 0) yield body;
  }
  const end = record(22, 0x06054b50, (view) => {
    view.setUint16(8, directory.length, true);
    view.setUint16(10, directory.length, true);
    view.setUint32(12, directory.reduce((sum, { length }) => sum + length, 0), true);
    view.setUint32(16, at, true);
  });
  yield* directory;
  yield end;
}

function packed({ path, data, modifiedAt, stored: asItIs = false }: ZipEntry, at: number, deflate: Deflate | undefined) {
  const name = new TextEncoder().encode(path);
  const shorter = data.length > 0 && !asItIs ? deflate?.(data) : undefined;
  const body = shorter && shorter.length < data.length ? shorter : data;
  const method = body === data ? stored : deflated;
  const crc = crc32(data);
  // Both headers have this in the middle.
  const common = (view: DataView, from: number) => {
    view.setUint16(from, 20, true);
    view.setUint16(from + 2, namesAreUtf8, true);
    view.setUint16(from + 4, method, true);
    view.setUint32(from + 6, dosTime(modifiedAt), true);
    view.setUint32(from + 10, crc, true);
    view.setUint32(from + 14, body.length, true);
    view.setUint32(from + 18, data.length, true);
    view.setUint16(from + 22, name.length, true);
  };
  const head = record(30, 0x04034b50, (view) => common(view, 4), name);
  const entry = record(
    46,
    0x02014b50,
    (view) => {
      view.setUint16(4, madeBy, true);
      common(view, 6);
      view.setUint32(38, plainFile * 0x10000, true);
      view.setUint32(42, at, true);
    },
    name,
  );
  return { head, entry, body };
}

function record(length: number, signature: number, fill: (view: DataView) => void, name: Uint8Array = new Uint8Array()): Uint8Array {
  const bytes = new Uint8Array(length + name.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, signature, true);
  fill(view);
  bytes.set(name, length);
  return bytes;
}

/** Years before 1980 and seconds that are odd cannot be said. */
function dosTime(date: Date): number {
  const year = Math.min(Math.max(date.getUTCFullYear(), 1980), 2107) - 1980;
  const day = (year << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate();
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1);
  return day * 0x10000 + time;
}

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** The checksum that zips carry. */
function crc32(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (let index = 0; index < data.length; index++) crc = (crc >>> 8) ^ (table[(crc ^ (data[index] as number)) & 0xff] as number);
  return (crc ^ 0xffffffff) >>> 0;
}
