import type { Message, Todo } from "@thinkery/sdk";
import type { Output } from "../output.ts";
import { callLine, messageLine, oneLine, retryLine, type ShownCall, type ShownResult, todoLines } from "./lines.ts";
import { SafeText } from "./safe-text.ts";
import type { Listener } from "./transcript.ts";

const longestSaid = 500;

/** Shows an answer as it comes: its text on stdout, all else a line each on stderr. */
export class Printer implements Listener {
  private readonly output: Output;
  private readonly withReasoning: boolean;
  private readonly safe = new SafeText();
  private midLine = false;
  private thought = "";

  constructor(output: Output, { reasoning = false } = {}) {
    this.output = output;
    this.withReasoning = reasoning;
  }

  text(piece: string): void {
    this.endThought();
    this.write(this.safe.push(piece));
  }

  paragraph(): void {
    this.endLine();
  }

  again(): void {
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
    this.line(callLine(call, result));
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
    this.line(messageLine(message, longestSaid));
  }

  /** A line that is not part of the answer; on a screen it must not begin in the middle of one. */
  line(text: string): void {
    if (this.output.toScreen) this.endLine();
    this.output.aside(text);
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
