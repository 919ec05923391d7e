/**
 * Files on their way between main and the daemon: a line of JSON that says what it is, then as many bytes as the line
 * says. Binary content goes as it is, and many small files go in one request.
 */
export interface Parcel<Label = unknown> {
  label: Label;
  bytes: Uint8Array;
}

/** A label is no longer than this. */
const longestLabel = 1024 * 1024;

/** The pieces of one parcel, as they go on the wire. */
export function packed(label: object, bytes?: Uint8Array): Uint8Array[] {
  const line = new TextEncoder().encode(`${JSON.stringify(bytes ? { ...label, size: bytes.length } : label)}\n`);
  return bytes ? [line, bytes] : [line];
}

/** The parcels in a stream. It throws where the stream ends within one, and where one is larger than it may be. */
export async function* parcelsIn(stream: AsyncIterable<Uint8Array>, largest: number): AsyncGenerator<Parcel> {
  const store = new Store(stream[Symbol.asyncIterator]());
  for (;;) {
    const line = await store.line();
    if (line === undefined) return;
    const label: unknown = JSON.parse(line);
    const size = (label as { size?: unknown } | null)?.size ?? 0;
    if (typeof size !== "number" || !Number.isInteger(size) || size < 0 || size > largest) throw new RangeError("A parcel is larger than it may be.");
    yield { label, bytes: await store.bytes(size) };
  }
}

/** What has come and was not taken yet. */
class Store {
  readonly #source: AsyncIterator<Uint8Array>;
  #pieces: Uint8Array[] = [];
  #held = 0;

  constructor(source: AsyncIterator<Uint8Array>) {
    this.#source = source;
  }

  async line(): Promise<string | undefined> {
    for (;;) {
      const all = this.#joined();
      const end = all.indexOf(10);
      if (end >= 0) return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode((await this.bytes(end + 1)).subarray(0, end));
      if (all.length > longestLabel) throw new RangeError("A label is longer than it may be.");
      if (await this.#more()) continue;
      if (all.length > 0) throw new Error("The stream ended within a parcel.");
      return undefined;
    }
  }

  async bytes(size: number): Promise<Uint8Array> {
    while (this.#held < size) if (!(await this.#more())) throw new Error("The stream ended within a parcel.");
    const all = this.#joined();
    this.#pieces = [all.subarray(size)];
    this.#held = all.length - size;
    return all.subarray(0, size);
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done) return false;
    this.#pieces.push(value);
    this.#held += value.length;
    return true;
  }

  #joined(): Uint8Array {
    if (this.#pieces.length === 1) return this.#pieces[0] as Uint8Array;
    const all = new Uint8Array(this.#held);
    let at = 0;
    for (const piece of this.#pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    this.#pieces = [all];
    return all;
  }
}
