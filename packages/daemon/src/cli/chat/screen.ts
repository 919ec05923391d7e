import { Writable } from "node:stream";
import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import type { Sink } from "../output.ts";

interface ScreenOptions {
  input: ReadStream;
  output: WriteStream;
  prompt: string;
  onLine(line: string): void;
  onInterrupt(): void;
  /** Ctrl+D, or the terminal is gone. */
  onEnd(): void;
}

/**
 * A terminal with a line to type on below what an agent says. While the agent speaks the line is out of the
 * way; when a person types it comes back, and the agent's words wait until they have finished.
 */
export class Screen implements Sink {
  readonly isTTY = true;
  private readonly output: WriteStream;
  private readonly lines: Interface;
  private shown = false;
  private busy = false;
  private held = "";
  private midLine = false;
  private closed = false;

  constructor({ input, output, prompt, onLine, onInterrupt, onEnd }: ScreenOptions) {
    this.output = output;
    this.lines = createInterface({ input, output: this.gate(), prompt, terminal: true, historySize: 200 });
    this.lines.on("line", (line) => {
      // The cursor stands on a fresh line now, without a prompt.
      this.shown = false;
      this.midLine = false;
      onLine(line);
      this.arrange();
    });
    this.lines.on("SIGINT", onInterrupt);
    this.lines.on("close", () => {
      if (!this.closed) onEnd();
    });
    // Behind the line editor's own listener, so that its line is up to date.
    input.on("keypress", () => this.arrange());
  }

  write(text: string): void {
    if (this.busy && this.shown) {
      this.held += text;
      return;
    }
    this.hide();
    this.put(text);
    this.arrange();
  }

  /** The agent works: it has the screen. */
  setBusy(busy: boolean): void {
    this.busy = busy;
    this.arrange();
  }

  close(): void {
    this.hide();
    this.closed = true;
    this.lines.close();
  }

  private arrange(): void {
    if (this.closed) return;
    if (!this.busy || this.lines.line !== "") {
      if (!this.busy && this.held !== "") this.hide();
      this.reveal();
    } else this.hide();
  }

  private hide(): void {
    if (this.shown) {
      const { rows } = this.lines.getCursorPos();
      moveCursor(this.output, 0, -rows);
      cursorTo(this.output, 0);
      clearScreenDown(this.output);
      // The line editor would otherwise go up again by what was typed before.
      (this.lines as { prevRows?: number }).prevRows = 0;
      this.shown = false;
    }
    const held = this.held;
    this.held = "";
    this.put(held);
  }

  private reveal(): void {
    if (this.shown) return;
    if (this.midLine) this.put("\n");
    this.shown = true;
    this.lines.prompt(true);
  }

  private put(text: string): void {
    if (text === "") return;
    this.output.write(text);
    this.midLine = !text.endsWith("\n");
  }

  /** What the line editor draws while its line is hidden goes nowhere. */
  private gate(): NodeJS.WritableStream {
    const gate = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (this.shown && !this.closed) this.output.write(chunk);
        done();
      },
    });
    Object.defineProperty(gate, "columns", { get: () => this.output.columns || 80 });
    this.output.on("resize", () => gate.emit("resize"));
    return gate;
  }
}
