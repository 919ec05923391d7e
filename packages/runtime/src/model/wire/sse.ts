/**
 * Server-sent events, as lean as they get: bytes in, the payloads of all events that came with them out. No stream is
 * piped through another, because every hop costs in workerd.
 */

/** No line of an honest provider comes near this. */
const maxLineChars = 16 * 1024 * 1024;

export class EventParser {
  private readonly decoder = new TextDecoder();
  /** Pieces of a line that has not ended yet. Joined once, so that a long line is not copied again and again. */
  private pieces: string[] = [];
  private pendingChars = 0;
  /** The `data` lines of an event that has not ended yet. */
  private data: string | undefined;

  constructor(private readonly longest = maxLineChars) {}

  /** The payloads that are complete with these bytes. Throws a RangeError for a line without end. */
  push(bytes: Uint8Array): string[] {
    const payloads: string[] = [];
    this.scan(this.decoder.decode(bytes, { stream: true }), payloads);
    return payloads;
  }

  /** The body has ended: what is left counts, blank line or not. */
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
    // Comments, `event`, `id` and `retry`: every format we read names its events inside the data as well.
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
    if (length > this.longest) throw new RangeError("an event without end");
  }
}
