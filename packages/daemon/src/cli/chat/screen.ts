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
  /** Called on Ctrl+D, or if the terminal is closed. */
  onEnd(): void;
}

/**
 * A terminal with an input line below the agent's output. The input line is hidden while the agent writes; when
 * the user types, it reappears and output is held back until they finish.
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
      // The cursor is on a new line without a prompt.
      this.isPromptShown = false;
      this.isMidLine = false;
      onLine(line);
      this.updatePrompt();
    });
    this.editor.on("SIGINT", onInterrupt);
    this.editor.on("close", () => {
      if (!this.isClosed) onEnd();
    });
    // Registered after the line editor's own listener, so that its line is up to date.
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

  /** Hides the prompt while the agent is working. */
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
      // Otherwise the line editor moves up again by the rows of the previous input.
      (this.editor as { prevRows?: number }).prevRows = 0;
      this.isPromptShown = false;
    }
    const text = this.heldText;
    this.heldText = "";
    this.print(text);
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

  /** Discards what the line editor draws while its line is hidden. */
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
