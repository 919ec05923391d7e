/** Buffer sizes for reading one chunk at a time, and for reading all that gathered between two reads. */
const chunkBufferBytes = 4 * 1024;
const gatherBufferBytes = 16 * 1024;
/** How far ahead of the reader a body is fetched. */
const maxAheadBytes = 64 * 1024;
/** Chunks read one by one before their rate is measured; most responses end before that. */
const probeChunks = 16;
/** Gathering pays off if the average gap between chunks is at most this. */
const maxGapMs = 4;
/** Chunks to gather per read, approximately, within the time limits below. */
const gatherChunks = 8;
const minGatherMs = 1;
const maxGatherMs = 10;

/**
 * Reads a response body in few reads. In workerd a read returns at most one HTTP chunk, however many have arrived, and
 * costs several times as much as parsing a delta; providers send one chunk per delta. So a fast body is teed: one
 * branch is pumped and discarded natively, while the other buffers what arrives, and one read returns all of it. A read
 * never waits for more than has arrived, so a stream that pauses still delivers everything it has sent.
 */
export class BodyReader {
  readonly #body: ReadableStream<Uint8Array>;
  #reader: ReadableStreamBYOBReader | ReadableStreamDefaultReader<Uint8Array>;
  /** Reused for byte streams: allocating a buffer for every read costs a fifth of the read. */
  #buffer: ArrayBuffer | undefined;
  #pump: Pump | undefined;
  /** How long to gather before the next read; 0 while chunks are read one by one. */
  #gatherMs = 0;
  /** What was read since the rate was last measured, and when that was. */
  #reads = 0;
  #bytes = 0;
  #since = Date.now();
  /** The average chunk size, measured when gathering begins. */
  #chunkBytes = 1;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#body = body;
    this.#reader = createReader(body);
    if (this.#reader instanceof ReadableStreamBYOBReader) this.#buffer = new ArrayBuffer(chunkBufferBytes);
  }

  /** Returns what has arrived (at least one byte), or undefined at the end. The bytes are valid until the next read. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#gatherMs > 0) await scheduler.wait(this.#gatherMs);
    // A single await, without a helper function: its cost would be paid for every chunk.
    const { done, value: bytes } = this.#buffer
      ? await (this.#reader as ReadableStreamBYOBReader).read(new Uint8Array(this.#buffer))
      : await (this.#reader as ReadableStreamDefaultReader<Uint8Array>).read();
    if (this.#buffer && bytes) this.#buffer = bytes.buffer as ArrayBuffer;
    if (done || !bytes) return undefined;
    this.#reads += 1;
    this.#bytes += bytes.length;
    this.#pump?.follow(bytes.length);
    if (canGather && (this.#gatherMs > 0 || this.#reads === probeChunks)) this.#adapt();
    return bytes;
  }

  cancel(): Promise<void> {
    this.#pump?.cancel();
    return this.#reader.cancel();
  }

  #adapt(): void {
    const now = Date.now();
    if (this.#gatherMs === 0) this.#chunkBytes = this.#bytes / this.#reads;
    const gapMs = ((now - this.#since) * this.#chunkBytes) / this.#bytes;
    const isFast = gapMs <= maxGapMs;
    this.#gatherMs = isFast ? Math.min(maxGatherMs, Math.max(minGatherMs, gapMs * gatherChunks)) : 0;
    if (isFast && !this.#pump) this.#split();
    this.#reads = this.#bytes = 0;
    this.#since = now;
  }

  #split(): void {
    this.#reader.releaseLock();
    const [read, pumped] = this.#body.tee();
    this.#reader = createReader(read);
    this.#buffer &&= new ArrayBuffer(gatherBufferBytes);
    this.#pump = new Pump(pumped);
  }
}

const canGather = typeof IdentityTransformStream === "function" && typeof scheduler === "object";

/**
 * Keeps a branch of a body flowing, at most `maxAheadBytes` ahead of the branch being read. Runs no JavaScript per
 * chunk.
 */
class Pump {
  readonly #reader: ReadableStreamBYOBReader;
  #ahead = 0;
  #idle = true;

  constructor(branch: ReadableStream<Uint8Array>) {
    const { readable, writable } = new IdentityTransformStream();
    this.#reader = readable.getReader({ mode: "byob" });
    // The reader of the other branch sees the error.
    branch.pipeTo(writable).catch(() => {});
    this.#fetch();
  }

  /** Called when the reader has consumed `bytes`. */
  follow(bytes: number): void {
    this.#ahead -= bytes;
    if (this.#idle && this.#ahead <= 0) this.#fetch();
  }

  cancel(): void {
    this.#reader.cancel().catch(() => {});
  }

  #fetch(): void {
    this.#idle = false;
    this.#reader.readAtLeast(maxAheadBytes, new Uint8Array(maxAheadBytes)).then(
      ({ done }) => {
        this.#ahead += maxAheadBytes;
        this.#idle = !done;
        if (this.#idle && this.#ahead <= 0) this.#fetch();
      },
      () => {},
    );
  }
}

function createReader(
  body: ReadableStream<Uint8Array>,
): ReadableStreamBYOBReader | ReadableStreamDefaultReader<Uint8Array> {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return body.getReader();
  }
}
