import type { Message, Todo } from "@thinkery/sdk";
import type { Capability } from "@thinkery/sdk/client";
import type { Output } from "../output.ts";
import { messageLine, oneLine, retryLine, type ShownCall, type ShownResult, todoLines } from "./lines.ts";
import { OpenCalls } from "./open-calls.ts";
import { SafeText } from "./safe-text.ts";
import type { Listener } from "./transcript.ts";

const maxShownChars = 500;

/** Shows an answer as it comes: its text on stdout, all else a line each on stderr. */
export class Printer implements Listener {
  private readonly output: Output;
  private readonly withAnswer: boolean;
  private readonly withReasoning: boolean;
  private readonly calls = new OpenCalls();
  private readonly safe = new SafeText();
  private midLine = false;
  private thought = "";

  constructor(output: Output, { answer = true, reasoning = false } = {}) {
    this.output = output;
    this.withAnswer = answer;
    this.withReasoning = reasoning;
  }

  text(piece: string): void {
    this.endThought();
    if (this.withAnswer) this.write(this.safe.push(piece));
  }

  paragraph(): void {
    this.endLine();
  }

  again(): void {
    if (!this.withAnswer) return;
    this.endLine();
    this.line("The answer was interrupted and begins again:");
  }

  reasoning(piece: string): void {
    if (!this.withReasoning) return;
    const lines = (this.thought + piece).split("\n");
    this.thought = lines.pop() ?? "";
    for (const line of lines) this.line(line);
  }

  call(call: ShownCall, result: ShownResult): void {
    this.lines(this.calls.answered(call, result));
  }

  /** For people only: what is kept of a run is its result. */
  progress(call: ShownCall, text: string): void {
    if (this.output.asidesToScreen) this.lines(this.calls.progress(call, text));
  }

  within(call: ShownCall, made: Capability): void {
    this.lines(this.calls.within(call, made));
  }

  todos(todos: Todo[]): void {
    for (const line of todoLines(todos)) this.line(line);
  }

  title(title: string): void {
    this.line(`Title: ${title}`);
  }

  note(text: string): void {
    this.line(oneLine(text, 500));
  }

  retry(error: string, retryInMs: number): void {
    this.line(retryLine(error, retryInMs));
  }

  said(message: Message): void {
    this.end();
    this.line(messageLine(message, maxShownChars));
  }

  /** A line that is not part of the answer; on a screen it must not begin in the middle of one. */
  line(text: string): void {
    if (this.output.toScreen) this.endLine();
    this.output.aside(text);
  }

  private lines(lines: readonly string[]): void {
    for (const line of lines) this.line(line);
  }

  end(): void {
    this.endThought();
    this.endLine();
  }

  private endThought(): void {
    if (this.thought !== "") this.output.aside(this.thought);
    this.thought = "";
  }

  private endLine(): void {
    this.write(this.safe.end());
    if (this.midLine) this.write("\n");
  }

  private write(text: string): void {
    if (text === "") return;
    this.output.piece(text);
    this.midLine = !text.endsWith("\n");
  }
}
