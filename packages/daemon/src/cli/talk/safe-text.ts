import { sanitize } from "../output.ts";

/** Makes streamed text harmless for a terminal, also where a pair of characters is cut in two. */
export class SafeText {
  private heldText = "";

  push(piece: string): string {
    const text = this.heldText + piece;
    this.heldText = /[\r\ud800-\udbff]$/.exec(text)?.[0] ?? "";
    return sanitize(this.heldText ? text.slice(0, -1) : text);
  }

  /** What was held back when no more comes. */
  end(): string {
    const rest = sanitize(this.heldText);
    this.heldText = "";
    return rest;
  }
}
