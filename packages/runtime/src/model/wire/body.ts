/** For a chunk at a time, and for all that gathers between two reads. */
const chunkBufferBytes = 4 * 1024;
const gatherBufferBytes = 16 * 1024;
/** How far ahead of its reader a body is fetched at most. */
const maxAheadBytes = 64 * 1024;
/** So many chunks are read one by one before anything is made of their rate: most answers end before that. */
const probeChunks = 16;
/** Chunks that are this close to each other on average are worth gathering. */
const maxGapMs = 4;
/** About so many are gathered for a read, within these times. */
const gatherChunks = 8;
const minGatherMs = 1;
const maxGatherMs = 10;

/**
 * Reads a response body in few reads. In workerd a read returns at most one HTTP chunk, however many have arrived, and
 * costs several times what parsing a delta does: providers send a chunk for each. So a body that comes fast is split:
 * one branch is pumped into nothing, natively, while the other one gathers what came, and a read returns all of that.
 * Nothing waits for more than has arrived: a stream that pauses shows all it has sent.
 */
export class BodyReader {
  readonly #body: ReadableStream<Uint8Array>;
  #reader: ReadableStreamBYOBReader | ReadableStreamDefaultReader<Uint8Array>;
  /** What byte streams are read into: memory that is new for every read costs a fifth of the read. */
  #buffer: ArrayBuffer | undefined;
  #pump: Pump | undefined;
  /** How long to gather before the next read; 0 where chunks are read one by one. */
  #gatherMs = 0;
  /** What was read since the rate was last looked at, and when that was. */
  #reads = 0;
  #bytes = 0;
  #since = Date.now();
  /** The average size of a chunk, known when gathering begins. */
  #chunkBytes = 1;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#body = body;
    this.#reader = createReader(body);
    if (this.#reader instanceof ReadableStreamBYOBReader) this.#buffer = new ArrayBuffer(chunkBufferBytes);
  }

  /** Returns what has arrived, at least one byte, or undefined at the end. Valid until the next read. */
  async read(): Promise<Uint8Array | undefined> {
    if (this.#gatherMs > 0) await scheduler.wait(this.#gatherMs);
    // One await and no function of its own around it: that would be paid for with every chunk.
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

/** Keeps a branch of a body flowing, at most so far ahead of the branch that is read. No JavaScript runs for a chunk. */
class Pump {
  readonly #reader: ReadableStreamBYOBReader;
  #ahead = 0;
  #idle = true;

  constructor(branch: ReadableStream<Uint8Array>) {
    const { readable, writable } = new IdentityTransformStream();
    this.#reader = readable.getReader({ mode: "byob" });
    // The reader of the other branch sees how it ends.
    branch.pipeTo(writable).catch(() => {});
    this.#fetch();
  }

  /** The reader has taken so much. */
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
