import { type ChannelMessage, defaultChannel, type JobEvent } from "@thinkery/sdk";
import { formatCall, formatRetry, toOneLine } from "../conversation/lines.ts";
import type { LiveArea } from "../live-area.ts";
import { type Output, sanitizeIndented } from "../output.ts";
import type { AgentLines } from "./agent-lines.ts";

const maxMessageLines = 20;
const replyWidth = 160;
const errorWidth = 500;

/** Tools whose effect is shown by itself. */
const silentTools: ReadonlySet<string> = new Set(["channel_send", "my_status_set", "my_inbox", "my_inbox_ack"]);

interface RunPrinterOptions {
  /** Whether messages and replies are the output of the command, in full, and not notes about its progress. */
  isOutput: boolean;
  /** A lone agent's reply is the result, which is printed in the end. */
  isLone: boolean;
}

/**
 * Prints what the agents of a run do. On a terminal each has a line at its end, with messages above; elsewhere there is a
 * line for each tool call.
 */
export class RunPrinter {
  private readonly output: Output;
  private readonly options: RunPrinterOptions;
  private readonly liveArea: LiveArea | undefined;
  private readonly inputs = new Map<string, unknown>();
  /** Why agents failed, as far as it was said. */
  private readonly errors = new Map<string, string>();
  /** What waits until a prompt is answered. */
  private held: (() => void)[] | undefined;
  private hasEnded = false;

  constructor(output: Output, agents: AgentLines, options: RunPrinterOptions) {
    this.output = output;
    this.options = options;
    this.liveArea = output.openLiveArea((width) =>
      this.held || this.hasEnded ? [] : agents.format(Date.now(), width),
    );
  }

  apply(event: JobEvent): void {
    switch (event.type) {
      case "message":
        return this.printText(formatMessage(event.message, this.options.isOutput));
      case "turn_end":
        return this.printTurnEnd(event);
      case "retrying":
        return this.note(`${event.agent}: ${formatRetry(event.error, event.retryIn)}`);
      case "tool_call":
        this.inputs.set(event.call.id, event.call.input);
        return this.liveArea?.draw();
      case "tool_result": {
        const input = this.inputs.get(event.callId);
        this.inputs.delete(event.callId);
        if (!this.liveArea && !silentTools.has(event.name))
          this.note(`${event.agent} ${formatCall({ name: event.name, input }, event)}`);
        return this.liveArea?.draw();
      }
      case "status":
        this.noteError(event.agent, event.status.error);
        return this.liveArea?.draw();
      default:
        return undefined;
    }
  }

  note(line: string): void {
    this.print(() => this.output.writeNote(line));
  }

  /** While a prompt is on the terminal, nothing else is written there. */
  setSuspended(isSuspended: boolean): void {
    if (isSuspended) {
      this.held ??= [];
      return this.liveArea?.stop();
    }
    const held = this.held ?? [];
    this.held = undefined;
    for (const print of held) print();
    this.liveArea?.draw();
  }

  end(): void {
    this.hasEnded = true;
    this.setSuspended(false);
  }

  private printTurnEnd({ agent, status, content }: Extract<JobEvent, { type: "turn_end" }>): void {
    const { isOutput, isLone } = this.options;
    if (status === "canceled") return this.note(`${agent}: the turn was canceled.`);
    // Its status says why it failed.
    if (status === "error" || content.trim() === "" || (isLone && !isOutput)) return;
    if (isOutput) this.printText(`${agent}: ${content}`);
    else this.note(`${agent} finished: ${toOneLine(content, replyWidth)}`);
  }

  private noteError(agent: string, error: string | undefined): void {
    const isNew = error !== undefined && this.errors.get(agent) !== error;
    if (error === undefined) this.errors.delete(agent);
    else this.errors.set(agent, error);
    if (isNew) this.note(`${agent} failed: ${toOneLine(error, errorWidth)}`);
  }

  private printText(text: string): void {
    const line = sanitizeIndented(text.trimEnd());
    this.print(() => (this.options.isOutput ? this.output.writeChunk(`${line}\n`) : this.output.writeMessage(line)));
  }

  private print(print: () => void): void {
    if (this.held) this.held.push(print);
    else print();
  }
}

/** Formats a message with who wrote it to whom: `lead → reviewer: …`. */
function formatMessage({ from, to, channel, content, size, resource }: ChannelMessage, isWhole: boolean): string {
  const isDirect = channel.startsWith("@");
  const recipients = to.length > 0 ? to.join(", ") : `#${channel}`;
  const place = to.length > 0 && channel !== defaultChannel && !isDirect ? ` in #${channel}` : "";
  const lines = content.split("\n");
  const shown = isWhole ? lines : lines.slice(0, maxMessageLines);
  const hidden = lines.length - shown.length;
  const more = [
    ...(hidden > 0 ? [`… (${hidden} more lines)`] : []),
    ...(resource === undefined ? [] : [`… (${size ?? 0} characters in all)`]),
  ];
  return `${from} → ${recipients}${place}: ${[...shown, ...more].join("\n")}`;
}
