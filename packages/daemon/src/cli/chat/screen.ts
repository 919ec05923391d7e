import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from "node:readline";
import { Writable } from "node:stream";
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
  private readonly editor: Interface;
  private isPromptShown = false;
  private isBusy = false;
  private heldText = "";
  private isMidLine = false;
  private isClosed = false;

  constructor({ input, output, prompt, onLine, onInterrupt, onEnd }: ScreenOptions) {
    this.output = output;
    this.editor = createInterface({ input, output: this.createGate(), prompt, terminal: true, historySize: 200 });
    this.editor.on("line", (line) => {
      // The cursor stands on a fresh line now, without a prompt.
      this.isPromptShown = false;
      this.isMidLine = false;
      onLine(line);
      this.updatePrompt();
    });
    this.editor.on("SIGINT", onInterrupt);
    this.editor.on("close", () => {
      if (!this.isClosed) onEnd();
    });
    // Behind the line editor's own listener, so that its line is up to date.
    input.on("keypress", () => this.updatePrompt());
  }

  write(text: string): void {
    if (this.isBusy && this.isPromptShown) {
      this.heldText += text;
      return;
    }
    this.hidePrompt();
    this.print(text);
    this.updatePrompt();
  }

  /** The agent works: it has the screen. */
  setBusy(busy: boolean): void {
    this.isBusy = busy;
    this.updatePrompt();
  }

  close(): void {
    this.hidePrompt();
    this.isClosed = true;
    this.editor.close();
  }

  private updatePrompt(): void {
    if (this.isClosed) return;
    if (!this.isBusy || this.editor.line !== "") {
      if (!this.isBusy && this.heldText !== "") this.hidePrompt();
      this.showPrompt();
    } else this.hidePrompt();
  }

  private hidePrompt(): void {
    if (this.isPromptShown) {
      const { rows } = this.editor.getCursorPos();
      moveCursor(this.output, 0, -rows);
      cursorTo(this.output, 0);
      clearScreenDown(this.output);
      // The line editor would otherwise go up again by what was typed before.
      (this.editor as { prevRows?: number }).prevRows = 0;
      this.isPromptShown = false;
    }
    const held = this.heldText;
    this.heldText = "";
    this.print(held);
  }

  private showPrompt(): void {
    if (this.isPromptShown) return;
    if (this.isMidLine) this.print("\n");
    this.isPromptShown = true;
    this.editor.prompt(true);
  }

  private print(text: string): void {
    if (text === "") return;
    this.output.write(text);
    this.isMidLine = !text.endsWith("\n");
  }

  /** What the line editor draws while its line is hidden goes nowhere. */
  private createGate(): NodeJS.WritableStream {
    const gate = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (this.isPromptShown && !this.isClosed) this.output.write(chunk);
        done();
      },
    });
    Object.defineProperty(gate, "columns", { get: () => this.output.columns || 80 });
    this.output.on("resize", () => gate.emit("resize"));
    return gate;
  }
}
