import type { Message, SubagentEvent, SubagentFrame, Todo } from "@thinkery/sdk";
import type { Capability } from "@thinkery/sdk/client";
import type { LiveArea } from "../live-area.ts";
import type { Output } from "../output.ts";
import { formatMessage, toOneLine, formatRetry, type ShownCall, type ShownResult, formatTodos } from "./lines.ts";
import { OpenCalls } from "./open-calls.ts";
import { SafeText } from "./safe-text.ts";
import { SubagentLines } from "./subagent-lines.ts";
import type { TranscriptListener } from "./transcript.ts";

const maxShownChars = 500;

/** Prints a streamed response: its text on stdout, everything else as lines on stderr. */
export class Printer implements TranscriptListener {
  private readonly output: Output;
  private readonly showsResponse: boolean;
  private readonly showsReasoning: boolean;
  private readonly calls = new OpenCalls();
  private readonly safeText = new SafeText();
  private isMidLine = false;
  private reasoningLine = "";
  private readonly subagents: SubagentLines;
  private readonly liveArea: LiveArea | undefined;
  /** Lines that wait until a prompt is answered. */
  private heldLines: string[] | undefined;
  private readonly showsWaits: boolean;

  /** With `live`, sub-agents that work have a line at the end of the terminal. */
  constructor(
    output: Output,
    { response = true, reasoning = false, live = false, waits = false, subagents = new SubagentLines() } = {},
  ) {
    this.output = output;
    this.subagents = subagents;
    if (live) this.liveArea = output.openLiveArea((width) => this.formatLive(width));
    this.showsResponse = response;
    this.showsReasoning = reasoning;
    this.showsWaits = waits;
  }

  onText(piece: string): void {
    this.endReasoning();
    if (this.showsResponse) this.write(this.safeText.push(piece));
  }

  onParagraph(): void {
    this.endLine();
  }

  onRestart(): void {
    if (!this.showsResponse) return;
    this.endLine();
    this.writeLine("The response was interrupted and starts over:");
  }

  onReasoning(piece: string): void {
    if (!this.showsReasoning) return;
    const lines = (this.reasoningLine + piece).split("\n");
    this.reasoningLine = lines.pop() ?? "";
    for (const line of lines) this.writeLine(line);
  }

  onCall(call: ShownCall, result: ShownResult): void {
    this.writeLines(this.calls.complete(call, result));
  }

  /** Only shown on a terminal. */
  onProgress(call: ShownCall, text: string): void {
    if (this.output.isStderrTTY) this.writeLines(this.calls.addProgress(call, text));
  }

  onCapability(call: ShownCall, capability: Capability): void {
    this.writeLines(this.calls.addCapability(call, capability));
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

  onWait(line: string): void {
    if (this.showsWaits) this.writeLine(line);
  }

  onRetry(error: string, retryInMs: number): void {
    this.writeLine(formatRetry(error, retryInMs));
  }

  onSubagent(event: SubagentEvent): void {
    const line = this.subagents.apply(event);
    const isShownLive = this.liveArea !== undefined && event.type !== "subagent.completed";
    if (line !== undefined && !isShownLive) this.writeLine(line);
    else this.liveArea?.draw();
  }

  onSubagentFrame(frame: SubagentFrame): void {
    this.subagents.applyFrame(frame);
    this.liveArea?.draw();
  }

  onMessage(message: Message): void {
    this.end();
    this.writeLine(formatMessage(message, maxShownChars));
  }

  /** Writes a line that is not part of the response; on a terminal it starts on a new line. */
  writeLine(text: string): void {
    if (this.heldLines) return void this.heldLines.push(text);
    if (this.output.isTTY) this.endLine();
    this.output.writeNote(text);
  }

  private writeLines(lines: readonly string[]): void {
    for (const line of lines) this.writeLine(line);
  }

  /** While a prompt is on the terminal, nothing else is written there. */
  setSuspended(isSuspended: boolean): void {
    if (isSuspended) {
      this.endReasoning();
      if (this.output.isTTY) this.endLine();
      this.heldLines ??= [];
      this.liveArea?.stop();
      return;
    }
    const lines = this.heldLines ?? [];
    this.heldLines = undefined;
    this.writeLines(lines);
    this.liveArea?.draw();
  }

  end(): void {
    if (this.heldLines) this.setSuspended(false);
    this.endReasoning();
    this.endLine();
    this.liveArea?.stop();
  }

  private endReasoning(): void {
    if (this.reasoningLine !== "") this.output.writeNote(this.reasoningLine);
    this.reasoningLine = "";
  }

  private endLine(): void {
    this.write(this.safeText.end());
    if (this.isMidLine) this.write("\n");
  }

  private write(text: string): void {
    if (text === "") return;
    this.isMidLine = !text.endsWith("\n");
    this.output.writeChunk(text);
  }

  // The response may be on the same terminal.
  private formatLive(width: number): string[] {
    return this.heldLines || (this.isMidLine && this.output.isTTY) ? [] : this.subagents.format(Date.now(), width);
  }
}
