import { toReadableOutput } from "@thinkery/sdk/internal";

interface OutputLimits {
  /** Bytes to keep of the beginning and of the end. */
  head: number;
  tail: number;
}

/** Buffers the output of a command. If it exceeds the limits, only the beginning and the end are kept. */
export class CommandOutput {
  readonly #headSize: number;
  #tailSize: number;
  readonly #head = new ByteBuffer();
  /** The end of the output, up to twice as long as the limit. */
  #tail = new ByteBuffer();
  #written = 0;

  constructor({ head, tail }: OutputLimits) {
    this.#headSize = head;
    this.#tailSize = tail;
  }

  write(chunk: Buffer): void {
    this.#written += chunk.length;
    const forHead = chunk.subarray(0, this.#headSize - this.#head.length);
    this.#head.add(forHead);
    const rest = chunk.subarray(forHead.length);
    // The buffer may grow to twice the limit, so that its content is rarely moved.
    if (this.#tail.length + rest.length > 2 * this.#tailSize)
      this.#tail.truncate(Math.max(0, this.#tailSize - rest.length));
    this.#tail.add(rest.subarray(-this.#tailSize));
  }

  /** Number of bytes written, without an incomplete character at the end. */
  get byteLength(): number {
    const end = this.#countOmitted() === 0 ? [this.#head.slice(3), this.#tail.slice(3)] : [this.#getTail()];
    return this.#written - countIncompleteBytes(Buffer.concat(end));
  }

  /** Returns what is kept, with a line in place of the omitted part. */
  toText(): string {
    const head = this.#head.slice();
    const gap = this.#countOmitted();
    if (gap === 0) return toText(Buffer.concat([head, this.#getTail()]));
    return [toText(head), formatOmitted(gap), toText(dropPartialCharacter(this.#getTail()))].filter(Boolean).join("\n");
  }

  /** Returns what was written after `position`, as far as it is kept; at most the last `maxBytes` of it. */
  readAfter(position: number, maxBytes = this.#tailSize): string {
    const { byteLength } = this;
    const wanted = Math.max(0, byteLength - position);
    const kept = this.#countOmitted() === 0 ? Buffer.concat([this.#head.slice(), this.#getTail()]) : this.#getTail();
    const complete = kept.subarray(0, kept.length - (this.#written - byteLength));
    const returned = complete.subarray(complete.length - Math.min(wanted, complete.length, maxBytes));
    return returned.length < wanted
      ? `${formatOmitted(wanted - returned.length)}\n${toText(dropPartialCharacter(returned))}`
      : toText(returned);
  }

  /** Lowers the tail limit once the command has ended. */
  shrink(tail: number): void {
    this.#tailSize = Math.min(this.#tailSize, tail);
    const tailBytes = this.#getTail();
    this.#tail = new ByteBuffer();
    this.#tail.add(tailBytes);
  }

  /** Number of bytes omitted between the beginning and the end. */
  #countOmitted(): number {
    return this.#written - this.#head.length - this.#getTail().length;
  }

  #getTail(): Buffer {
    return this.#tail.slice(this.#tailSize);
  }
}

/** A growable buffer that is not copied with every append. */
class ByteBuffer {
  length = 0;
  #buffer = Buffer.alloc(0);

  add(bytes: Buffer): void {
    const length = this.length + bytes.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(4096, 2 * this.#buffer.length, length));
      this.slice().copy(larger);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.length);
    this.length = length;
  }

  /** Keeps only the last `maxBytes`. */
  truncate(maxBytes: number): void {
    const tail = this.slice(maxBytes);
    tail.copy(this.#buffer);
    this.length = tail.length;
  }

  /** Returns the last `maxBytes`. */
  slice(maxBytes = this.length): Buffer {
    return this.#buffer.subarray(Math.max(0, this.length - maxBytes), this.length);
  }
}

const formatOmitted = (bytes: number) => `[… ${bytes} bytes omitted …]`;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Counts the bytes of an incomplete character at the end. */
function countIncompleteBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const length =
      byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xc0 && byte < 0xe0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

/** Drops the remaining bytes of a character that was cut in two. */
function dropPartialCharacter(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}

const toText = (bytes: Buffer) => toReadableOutput(decoder.decode(bytes));
