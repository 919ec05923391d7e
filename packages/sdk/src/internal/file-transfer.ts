/**
 * A file transfer between main and the daemon: a line of JSON as header, followed by `size` bytes. Binary content needs
 * no encoding, and many small files fit into one request.
 */
export interface FileTransfer<Header = unknown> {
  header: Header;
  bytes: Uint8Array;
}

const maxHeaderBytes = 1024 * 1024;

/** Encodes a transfer as chunks to send. */
export function encodeFileTransfer(header: object, bytes?: Uint8Array): Uint8Array[] {
  const line = new TextEncoder().encode(`${JSON.stringify(bytes ? { ...header, size: bytes.length } : header)}\n`);
  return bytes ? [line, bytes] : [line];
}

/** Decodes a stream of transfers. Throws if one is truncated or larger than `maxBytes`. */
export async function* decodeFileTransfers(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<FileTransfer> {
  const buffer = new ReadBuffer(stream[Symbol.asyncIterator]());
  for (;;) {
    const line = await buffer.readLine();
    if (line === undefined) return;
    const header: unknown = JSON.parse(line);
    const size = (header as { size?: unknown } | null)?.size ?? 0;
    if (typeof size !== "number" || !Number.isInteger(size) || size < 0 || size > maxBytes) {
      throw new RangeError("A file transfer is larger than allowed.");
    }
    yield { header, bytes: await buffer.readBytes(size) };
  }
}

/** Buffers received chunks until they are consumed. */
class ReadBuffer {
  readonly #source: AsyncIterator<Uint8Array>;
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(source: AsyncIterator<Uint8Array>) {
    this.#source = source;
  }

  async readLine(): Promise<string | undefined> {
    for (;;) {
      const all = this.#join();
      const end = all.indexOf(10);
      if (end >= 0) {
        const line = (await this.readBytes(end + 1)).subarray(0, end);
        return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line);
      }
      if (all.length > maxHeaderBytes) throw new RangeError("The header of a file transfer is longer than allowed.");
      if (await this.#receive()) continue;
      if (all.length > 0) throw new Error("The stream ended in the middle of a file transfer.");
      return undefined;
    }
  }

  async readBytes(size: number): Promise<Uint8Array> {
    while (this.#length < size) {
      if (!(await this.#receive())) throw new Error("The stream ended in the middle of a file transfer.");
    }
    const all = this.#join();
    this.#chunks = [all.subarray(size)];
    this.#length = all.length - size;
    return all.subarray(0, size);
  }

  async #receive(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done) return false;
    this.#chunks.push(value);
    this.#length += value.length;
    return true;
  }

  #join(): Uint8Array {
    if (this.#chunks.length === 1) return this.#chunks[0] as Uint8Array;
    const all = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, offset);
      offset += chunk.length;
    }
    this.#chunks = [all];
    return all;
  }
}
