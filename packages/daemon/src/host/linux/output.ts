import { toReadableOutput } from "@thinkery/sdk/internal";

interface Kept {
  /** Of what was written first, and of what was written last. In bytes. */
  head: number;
  tail: number;
}

/** What a command wrote: all of it while it is little; of much, the beginning and the end. Never more than is kept. */
export class Output {
  readonly #headSize: number;
  #tailSize: number;
  readonly #head = new Bytes();
  /** What came last, and something before that. */
  #tail = new Bytes();
  #written = 0;

  constructor({ head, tail }: Kept) {
    this.#headSize = head;
    this.#tailSize = tail;
  }

  write(chunk: Buffer): void {
    this.#written += chunk.length;
    const forHead = chunk.subarray(0, this.#headSize - this.#head.length);
    this.#head.add(forHead);
    const rest = chunk.subarray(forHead.length);
    // As much again is let in, so that what is kept is moved only now and then.
    if (this.#tail.length + rest.length > 2 * this.#tailSize) this.#tail.keep(Math.max(0, this.#tailSize - rest.length));
    this.#tail.add(rest.subarray(-this.#tailSize));
  }

  /** How many bytes it wrote. A character of which only a part has come does not count yet. */
  get bytes(): number {
    const end = this.#gap() === 0 ? [this.#head.last(3), this.#tail.last(3)] : [this.#last()];
    return this.#written - unfinished(Buffer.concat(end));
  }

  /** What is kept of it, with a line in the place of what is not. */
  text(): string {
    const head = this.#head.last();
    const gap = this.#gap();
    if (gap === 0) return shown(Buffer.concat([head, this.#last()]));
    return [shown(head), leftOut(gap), shown(fromWhole(this.#last()))].filter(Boolean).join("\n");
  }

  /** What it wrote after so many bytes, as far as it is kept; of more than `most`, the end. */
  after(position: number, most = this.#tailSize): string {
    const { bytes } = this;
    const wanted = Math.max(0, bytes - position);
    const kept = this.#gap() === 0 ? Buffer.concat([this.#head.last(), this.#last()]) : this.#last();
    const there = kept.subarray(0, kept.length - (this.#written - bytes));
    const given = there.subarray(there.length - Math.min(wanted, there.length, most));
    return given.length < wanted ? `${leftOut(wanted - given.length)}\n${shown(fromWhole(given))}` : shown(given);
  }

  /** Nothing more will come, and so much of the end is enough from now on. */
  shrink(tail: number): void {
    this.#tailSize = Math.min(this.#tailSize, tail);
    const last = this.#last();
    this.#tail = new Bytes();
    this.#tail.add(last);
  }

  /** How much is not kept, between the beginning and the end. */
  #gap(): number {
    return this.#written - this.#head.length - this.#last().length;
  }

  #last(): Buffer {
    return this.#tail.last(this.#tailSize);
  }
}

/** Bytes that are added to in small pieces without being copied each time. */
class Bytes {
  length = 0;
  #room = Buffer.alloc(0);

  add(more: Buffer): void {
    const length = this.length + more.length;
    if (length > this.#room.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(4096, 2 * this.#room.length, length));
      this.last().copy(larger);
      this.#room = larger;
    }
    more.copy(this.#room, this.length);
    this.length = length;
  }

  /** The last of them only. */
  keep(most: number): void {
    const kept = this.last(most);
    kept.copy(this.#room);
    this.length = kept.length;
  }

  last(most = this.length): Buffer {
    return this.#room.subarray(Math.max(0, this.length - most), this.length);
  }
}

const leftOut = (bytes: number) => `[… ${bytes} bytes left out …]`;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** How many bytes at the end begin a character that is not complete. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const due = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xc0 && byte < 0xe0 ? 2 : 1;
    return due > back ? back : 0;
  }
  return 0;
}

/** Without the rest of a character that was cut in two. */
function fromWhole(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}

const shown = (bytes: Buffer) => toReadableOutput(decoder.decode(bytes));
