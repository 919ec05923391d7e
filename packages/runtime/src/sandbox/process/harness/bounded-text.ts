/** What was written to a console: all of it, or of very much the beginning and the end. */
export class BoundedText {
  readonly #half: number;
  #head = "";
  #tail = "";
  #length = 0;

  constructor(most: number) {
    this.#half = Math.floor(most / 2);
  }

  add(text: string): void {
    this.#length += text.length;
    const room = this.#half - this.#head.length;
    if (room > 0) this.#head += text.slice(0, room);
    if (text.length <= room) return;
    this.#tail += text.slice(Math.max(0, room), text.length);
    // Not at every line: cutting a long text is work.
    if (this.#tail.length > 2 * this.#half) this.#tail = this.#tail.slice(-this.#half);
  }

  get text(): string {
    const dropped = this.#length - this.#head.length - this.#half;
    if (dropped <= 0) return (this.#head + this.#tail).toWellFormed();
    return `${this.#head}\n… ${dropped} ${dropped === 1 ? "character was" : "characters were"} left out here …\n${this.#tail.slice(-this.#half)}`.toWellFormed();
  }
}
