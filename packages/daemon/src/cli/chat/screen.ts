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
  private readonly input: ReadStream;
  private readonly prompt: string;
  /** Takes the next line, which answers a question. */
  private takeAnswer: ((line: string | undefined) => void) | undefined;

  constructor({ input, output, prompt, onLine, onInterrupt, onEnd }: ScreenOptions) {
    this.input = input;
    this.output = output;
    this.prompt = prompt;
    this.editor = createInterface({ input, output: this.createGate(), prompt, terminal: true, historySize: 200 });
    this.editor.on("line", (line) => {
      // The cursor is on a new line without a prompt.
      this.isPromptShown = false;
      this.isMidLine = false;
      // Commands are still possible.
      const { takeAnswer } = this;
      if (takeAnswer && !line.startsWith("/")) {
        this.takeAnswer = undefined;
        takeAnswer(line);
      } else onLine(line);
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
    if (this.isBusy && !this.takeAnswer && this.isPromptShown) {
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

  /** Asks for a line in place of the prompt. Returns undefined if the signal is aborted. */
  async ask(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return undefined;
    const answer = new Promise<string | undefined>((resolve) => (this.takeAnswer = resolve));
    const stop = () => this.takeAnswer?.(undefined);
    signal.addEventListener("abort", stop);
    this.setPrompt(prompt);
    try {
      return await answer;
    } finally {
      signal.removeEventListener("abort", stop);
      this.takeAnswer = undefined;
      this.setPrompt(this.prompt);
    }
  }

  /** Leaves the terminal to another program. */
  async lend<Result>(use: () => Promise<Result>): Promise<Result> {
    this.hidePrompt();
    this.editor.pause();
    this.input.setRawMode(false);
    try {
      return await use();
    } finally {
      this.input.setRawMode(true);
      this.editor.resume();
      this.updatePrompt();
    }
  }

  close(): void {
    this.hidePrompt();
    this.isClosed = true;
    this.editor.close();
  }

  private updatePrompt(): void {
    if (this.isClosed) return;
    if (!this.isBusy || this.takeAnswer || this.editor.line !== "") {
      if ((!this.isBusy || this.takeAnswer) && this.heldText !== "") this.hidePrompt();
      this.showPrompt();
    } else this.hidePrompt();
  }

  private setPrompt(prompt: string): void {
    this.hidePrompt();
    this.editor.setPrompt(prompt);
    this.updatePrompt();
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
