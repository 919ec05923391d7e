/** Collects text and keeps only its beginning and end if it gets too long. */
export class BoundedText {
  readonly #half: number;
  #head = "";
  #tail = "";
  #length = 0;

  constructor(maxChars: number) {
    this.#half = Math.floor(maxChars / 2);
  }

  add(text: string): void {
    this.#length += text.length;
    const room = this.#half - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    if (text.length <= room) return;
    this.#tail += text.slice(Math.max(0, room), text.length);
    // Not on every call, because slicing a long text is expensive.
    if (this.#tail.length > 2 * this.#half) this.#tail = this.#tail.slice(-this.#half);
  }

  get text(): string {
    const dropped = this.#length - this.#head.length - this.#half;
    if (dropped <= 0) return (this.#head + this.#tail).toWellFormed();
    return `${this.#head}\n… ${dropped} ${dropped === 1 ? "character" : "characters"} omitted …\n${this.#tail.slice(-this.#half)}`.toWellFormed();
  }
}
