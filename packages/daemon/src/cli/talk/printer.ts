import type { Message, Todo } from "@thinkery/sdk";
import type { Capability } from "@thinkery/sdk/client";
import type { Output } from "../output.ts";
import { formatMessage, toOneLine, formatRetry, type ShownCall, type ShownResult, formatTodos } from "./lines.ts";
import { OpenCalls } from "./open-calls.ts";
import { SafeText } from "./safe-text.ts";
import type { TranscriptListener } from "./transcript.ts";

const maxShownChars = 500;

/** Shows an answer as it comes: its text on stdout, all else a line each on stderr. */
export class Printer implements TranscriptListener {
  private readonly output: Output;
  private readonly showsAnswer: boolean;
  private readonly showsReasoning: boolean;
  private readonly calls = new OpenCalls();
  private readonly safeText = new SafeText();
  private isMidLine = false;
  private thoughtLine = "";

  constructor(output: Output, { answer = true, reasoning = false } = {}) {
    this.output = output;
    this.showsAnswer = answer;
    this.showsReasoning = reasoning;
  }

  onText(piece: string): void {
    this.endThought();
    if (this.showsAnswer) this.write(this.safeText.push(piece));
  }

  onParagraph(): void {
    this.endLine();
  }

  onRestart(): void {
    if (!this.showsAnswer) return;
    this.endLine();
    this.writeLine("The answer was interrupted and begins again:");
  }

  onReasoning(piece: string): void {
    if (!this.showsReasoning) return;
    const lines = (this.thoughtLine + piece).split("\n");
    this.thoughtLine = lines.pop() ?? "";
    for (const line of lines) this.writeLine(line);
  }

  onCall(call: ShownCall, result: ShownResult): void {
    this.writeLines(this.calls.complete(call, result));
  }

  /** For people only: what is kept of a run is its result. */
  onProgress(call: ShownCall, text: string): void {
    if (this.output.isStderrTTY) this.writeLines(this.calls.addProgress(call, text));
  }

  onCapability(call: ShownCall, made: Capability): void {
    this.writeLines(this.calls.addCapability(call, made));
  }

  onTodos(todos: Todo[]): void {
    for (const line of formatTodos(todos)) this.writeLine(line);
  }

  onTitle(title: string): void {
    this.writeLine(`Title: ${title}`);
  }

  onNote(text: string): void {
    this.writeLine(toOneLine(text, 500));
  }

  onRetry(error: string, retryInMs: number): void {
    this.writeLine(formatRetry(error, retryInMs));
  }

  onMessage(message: Message): void {
    this.end();
    this.writeLine(formatMessage(message, maxShownChars));
  }

  /** A line that is not part of the answer; on a screen it must not begin in the middle of one. */
  writeLine(text: string): void {
    if (this.output.isTTY) this.endLine();
    this.output.writeNote(text);
  }

  private writeLines(lines: readonly string[]): void {
    for (const line of lines) this.writeLine(line);
  }

  end(): void {
    this.endThought();
    this.endLine();
  }

  private endThought(): void {
    if (this.thoughtLine !== "") this.output.writeNote(this.thoughtLine);
    this.thoughtLine = "";
  }

  private endLine(): void {
    this.write(this.safeText.end());
    if (this.isMidLine) this.write("\n");
  }

  private write(text: string): void {
    if (text === "") return;
    this.output.writeChunk(text);
    this.isMidLine = !text.endsWith("\n");
  }
}
