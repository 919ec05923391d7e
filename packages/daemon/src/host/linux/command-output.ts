import { toReadableOutput } from "@thinkery/sdk/internal";

interface OutputLimits {
  /** Of what was written first, and of what was written last. In bytes. */
  head: number;
  tail: number;
}

/** What a command wrote: all of it while it is little; of much, the beginning and the end. Never more than is kept. */
export class CommandOutput {
  readonly #headSize: number;
  #tailSize: number;
  readonly #head = new ByteBuffer();
  /** What came last, and something before that. */
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
    // As much again is let in, so that what is kept is moved only now and then.
    if (this.#tail.length + rest.length > 2 * this.#tailSize)
      this.#tail.truncate(Math.max(0, this.#tailSize - rest.length));
    this.#tail.add(rest.subarray(-this.#tailSize));
  }

  /** How many bytes it wrote. A character of which only a part has come does not count yet. */
  get byteLength(): number {
    const end = this.#countOmitted() === 0 ? [this.#head.slice(3), this.#tail.slice(3)] : [this.#getTail()];
    return this.#written - countIncompleteBytes(Buffer.concat(end));
  }

  /** What is kept of it, with a line in the place of what is not. */
  toText(): string {
    const head = this.#head.slice();
    const gap = this.#countOmitted();
    if (gap === 0) return toText(Buffer.concat([head, this.#getTail()]));
    return [toText(head), formatOmitted(gap), toText(dropPartialCharacter(this.#getTail()))].filter(Boolean).join("\n");
  }

  /** What it wrote after so many bytes, as far as it is kept; of more than `most`, the end. */
  readAfter(position: number, most = this.#tailSize): string {
    const { byteLength } = this;
    const wanted = Math.max(0, byteLength - position);
    const kept = this.#countOmitted() === 0 ? Buffer.concat([this.#head.slice(), this.#getTail()]) : this.#getTail();
    const there = kept.subarray(0, kept.length - (this.#written - byteLength));
    const given = there.subarray(there.length - Math.min(wanted, there.length, most));
    return given.length < wanted
      ? `${formatOmitted(wanted - given.length)}\n${toText(dropPartialCharacter(given))}`
      : toText(given);
  }

  /** Nothing more will come, and so much of the end is enough from now on. */
  shrink(tail: number): void {
    this.#tailSize = Math.min(this.#tailSize, tail);
    const last = this.#getTail();
    this.#tail = new ByteBuffer();
    this.#tail.add(last);
  }

  /** How much is not kept, between the beginning and the end. */
  #countOmitted(): number {
    return this.#written - this.#head.length - this.#getTail().length;
  }

  #getTail(): Buffer {
    return this.#tail.slice(this.#tailSize);
  }
}

/** Bytes that are added to in small pieces without being copied each time. */
class ByteBuffer {
  length = 0;
  #buffer = Buffer.alloc(0);

  add(more: Buffer): void {
    const length = this.length + more.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(4096, 2 * this.#buffer.length, length));
      this.slice().copy(larger);
      this.#buffer = larger;
    }
    more.copy(this.#buffer, this.length);
    this.length = length;
  }

  /** The last of them only. */
  truncate(most: number): void {
    const kept = this.slice(most);
    kept.copy(this.#buffer);
    this.length = kept.length;
  }

  slice(most = this.length): Buffer {
    return this.#buffer.subarray(Math.max(0, this.length - most), this.length);
  }
}

const formatOmitted = (bytes: number) => `[… ${bytes} bytes left out …]`;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** How many bytes at the end begin a character that is not complete. */
function countIncompleteBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const due = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xc0 && byte < 0xe0 ? 2 : 1;
    return due > back ? back : 0;
  }
  return 0;
}

/** Without the rest of a character that was cut in two. */
function dropPartialCharacter(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}

const toText = (bytes: Buffer) => toReadableOutput(decoder.decode(bytes));
