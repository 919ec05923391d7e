import { harmless } from "../output.ts";

/** Makes streamed text harmless for a terminal, also where a pair of characters is cut in two. */
export class SafeText {
  private held = "";

  push(piece: string): string {
    const text = this.held + piece;
    this.held = /[\r\ud800-\udbff]$/.exec(text)?.[0] ?? "";
    return harmless(this.held ? text.slice(0, -1) : text);
  }

  /** What was held back when no more comes. */
  end(): string {
    const rest = harmless(this.held);
    this.held = "";
    return rest;
  }
}
