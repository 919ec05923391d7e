import { sanitize } from "../output.ts";

/** Sanitizes streamed text for a terminal, even if a surrogate pair or CRLF is split between chunks. */
export class SafeText {
  private heldText = "";

  push(piece: string): string {
    const text = this.heldText + piece;
    this.heldText = /[\r\ud800-\udbff]$/.exec(text)?.[0] ?? "";
    return sanitize(this.heldText ? text.slice(0, -1) : text);
  }

  /** Returns the text held back at the end of the stream. */
  end(): string {
    const rest = sanitize(this.heldText);
    this.heldText = "";
    return rest;
  }
}
