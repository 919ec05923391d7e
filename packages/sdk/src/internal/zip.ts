import { Zip, ZipPassThrough } from "fflate/browser";
import { fail } from "../protocol/errors.ts";

export interface ZipEntry {
  path: string;
  data: Uint8Array;
  modifiedAt: Date;
  /** Whether to store the data as it is, because it is compressed already. */
  stored?: boolean;
}

/** Returns data as a raw deflate stream; with `store`, without compressing it (level 0). */
export type Deflate = (data: Uint8Array, options: { store: boolean }) => Uint8Array<ArrayBuffer>;

/** What the format can hold without its 64-bit extension. */
const maxFiles = 0xffff - 1;
const maxBytes = 0xffff_fffe;

/** Dates that the format can express and fflate accepts. */
const [minDate, maxDate] = [Date.UTC(1980, 0, 1), Date.UTC(2099, 11, 31, 23, 59, 58)];

/** Only entries created on Unix have permissions. */
const unix = 3;
const regularFile = 0o100644 << 16;

/**
 * Writes files as a zip, chunk by chunk: one file is held in memory at a time. Chunks are never empty and belong to
 * the caller. Without `deflate`, everything is stored.
 */
export async function* zipFiles(
  files: AsyncIterable<ZipEntry> | Iterable<ZipEntry>,
  deflate?: Deflate,
): AsyncGenerator<Uint8Array> {
  let chunks: Uint8Array[] = [];
  let [count, bytes] = [0, 0];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    bytes += chunk.length;
    if (chunk.length > 0) chunks.push(chunk);
  });
  const takeChunks = () => {
    const taken = chunks;
    chunks = [];
    return taken;
  };
  for await (const entry of files) {
    addEntry(zip, entry, deflate);
    if (++count > maxFiles || bytes > maxBytes) {
      throw fail("too_large", "The files do not fit into one zip. Download one folder at a time.");
    }
    yield* takeChunks();
  }
  zip.end();
  yield* takeChunks();
}

function addEntry(zip: Zip, { path, data, modifiedAt, stored: store = false }: ZipEntry, deflate?: Deflate): void {
  const file = deflate ? new DeflatedFile(path, (data) => deflate(data, { store })) : new ZipPassThrough(path);
  file.mtime = toLocalFields(modifiedAt);
  file.os = unix;
  file.attrs = regularFile;
  zip.add(file);
  file.push(data, true);
}

/**
 * Sizes are written after the data, so every entry is a deflate stream, even if its data is only stored: otherwise
 * programs that read a zip from front to back (Java's ZipInputStream) cannot know where the entry ends.
 * fflate keeps this object until the zip ends, so it must not reference any data.
 */
class DeflatedFile extends ZipPassThrough {
  readonly #deflate: (data: Uint8Array) => Uint8Array<ArrayBuffer>;

  constructor(path: string, deflate: (data: Uint8Array) => Uint8Array<ArrayBuffer>) {
    super(path);
    this.compression = 8;
    this.#deflate = deflate;
  }

  protected override process(data: Uint8Array, final: boolean): void {
    this.ondata(null, this.#deflate(data), final);
  }
}

/** fflate writes local time, but the same files should produce the same bytes everywhere. */
function toLocalFields(date: Date): Date {
  const utc = new Date(Math.min(Math.max(date.getTime(), minDate), maxDate));
  return new Date(
    utc.getUTCFullYear(),
    utc.getUTCMonth(),
    utc.getUTCDate(),
    utc.getUTCHours(),
    utc.getUTCMinutes(),
    utc.getUTCSeconds(),
  );
}
