/** Far above any legitimate line. */
const maxLineChars = 16 * 1024 * 1024;

/** Parses server-sent events from bytes. Not a stream pipeline, because every hop between streams costs in workerd. */
export class EventParser {
  private readonly decoder = new TextDecoder();
  /** Pieces of an incomplete line. Joined once, so that a long line is not copied repeatedly. */
  private pieces: string[] = [];
  private pendingChars = 0;
  /** The `data` lines of an incomplete event. */
  private data: string | undefined;

  constructor(private readonly maxChars = maxLineChars) {}

  /** Returns the payloads completed by these bytes. Throws a RangeError if a line or event is too long. */
  push(bytes: Uint8Array): string[] {
    const payloads: string[] = [];
    this.scan(this.decoder.decode(bytes, { stream: true }), payloads);
    return payloads;
  }

  /** Returns the rest at the end of the body, even without a final blank line. */
  end(): string[] {
    const payloads: string[] = [];
    this.scan(`${this.decoder.decode()}\n\n`, payloads);
    return payloads;
  }

  private scan(text: string, payloads: string[]): void {
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      let line = text.slice(from, at);
      if (this.pieces.length > 0) {
        line = this.pieces.join("") + line;
        this.pieces = [];
        this.pendingChars = 0;
      }
      this.parseLine(line.endsWith("\r") ? line.slice(0, -1) : line, payloads);
      from = at + 1;
    }
    if (from === text.length) return;
    const rest = from === 0 ? text : text.slice(from);
    this.pieces.push(rest);
    this.pendingChars += rest.length;
    this.checkLength(this.pendingChars);
  }

  private parseLine(line: string, payloads: string[]): void {
    if (line === "") {
      if (this.data !== undefined) payloads.push(this.data);
      this.data = undefined;
      return;
    }
    // Ignores comments, `event`, `id` and `retry`: all our formats also name the event inside the data.
    if (!line.startsWith("data")) return;
    let value = "";
    if (line.length > 4) {
      if (line[4] !== ":") return;
      value = line.slice(line[5] === " " ? 6 : 5);
    }
    this.data = this.data === undefined ? value : `${this.data}\n${value}`;
    this.checkLength(this.data.length);
  }

  private checkLength(length: number): void {
    if (length > this.maxChars) throw new RangeError("event too long");
  }
}
