import type { ReplyOperation } from "@thinkery/sdk/agent-host";
import type { ToolCall } from "../../model/model.ts";
import type { Journal, JournalRequest } from "../../store/code/journal.ts";
import type { ReplyWriter } from "../driver.ts";

interface Reply {
  name: string;
  /** Text that is not in the conversation yet, because an earlier reply is open. */
  buffer: string;
  /** The message that is being written. */
  messageId: string | undefined;
  /** Characters in completed messages, and how many of them this run of the code has written again. */
  chars: number;
  repeated: number;
  segments: number;
  hasEnded: boolean;
}

/** Of one request. The text of a reply is in rows of the log, so one may not be much longer. */
const maxReplyChars = 1_000_000;
const maxRequestChars = 4_000_000;
const maxReplies = 200;
const maxArgumentChars = 2000;

/**
 * Writes the replies of one request to the conversation, in the order in which they begin: a conversation has one open
 * message at a time, so the text of later ones waits. A reply during which tools are called consists of several
 * messages: the text before the calls, and the text after them.
 */
export class Replies {
  readonly #writer: ReplyWriter;
  readonly #journal: Journal;
  readonly #request: JournalRequest;
  readonly #areStreamed: boolean;
  readonly #replies = new Map<string, Reply>();
  /** Replies with text that are not complete, in order. */
  #open: Reply[] = [];
  #chars = 0;

  /** `areStreamed`: only one message of a conversation is written at a time, so replies of concurrent turns are not. */
  constructor(writer: ReplyWriter, journal: Journal, request: JournalRequest, areStreamed: boolean) {
    this.#areStreamed = areStreamed;
    this.#writer = writer;
    this.#journal = journal;
    this.#request = request;
  }

  apply(operation: ReplyOperation): void {
    switch (operation.type) {
      case "write":
        return this.write(String(operation.reply), operation.text);
      case "thinking":
        return this.#writer.showActivity({ kind: "thinking", text: operation.text });
      case "action":
        return this.#writer.showActivity({
          kind: "action",
          tool: operation.tool,
          args: shortenArguments(operation.args),
        });
      case "actionComplete":
        return this.#writer.showActivity({ kind: "idle" });
      case "end":
        return this.end(String(operation.reply));
    }
  }

  /** Adds text to a reply; the first text begins it. */
  write(name: string, text: string): void {
    const reply = this.#get(name);
    if (reply.hasEnded) throw new Error("This reply has ended.");
    this.#count(reply, text);
    const isRepeated = Math.min(reply.chars - reply.repeated, text.length);
    reply.repeated += isRepeated;
    const added = text.slice(isRepeated);
    if (!added) return;
    if (!this.#open.includes(reply)) this.#open.push(reply);
    reply.buffer += added;
    this.#writeFirst();
  }

  end(name: string): void {
    const reply = this.#get(name);
    reply.hasEnded = true;
    this.#writeFirst();
  }

  hasEnded(name: string): boolean {
    return this.#replies.get(name)?.hasEnded ?? false;
  }

  /** Completes the message that is being written with these calls, or adds one that has nothing else. */
  requestCalls(calls: readonly ToolCall[], key: string): ToolCall[] {
    const [first] = this.#open;
    if (first?.messageId !== undefined) return this.#completeSegment(first, calls);
    const messageId = this.#createId("calls", key);
    this.#writer.begin(messageId);
    return this.#writer.complete(messageId, calls);
  }

  /** Completes everything that is open. */
  finish(): void {
    for (const reply of this.#replies.values()) reply.hasEnded = true;
    this.#writeFirst();
  }

  /** Writes the text of the first open reply, and of those after it if it has ended. */
  #writeFirst(): void {
    for (let first = this.#findWritable(); first; first = this.#findWritable()) {
      if (first.buffer) {
        if (first.messageId === undefined) {
          first.messageId = this.#createId(first.name, String(first.segments));
          this.#writer.begin(first.messageId);
        }
        this.#writer.append(first.buffer);
        first.chars += first.buffer.length;
        first.repeated = first.chars;
        first.buffer = "";
      }
      if (!first.hasEnded) return;
      if (first.messageId !== undefined) this.#completeSegment(first, []);
      this.#open = this.#open.filter((reply) => reply !== first);
    }
  }

  #findWritable(): Reply | undefined {
    return this.#areStreamed ? this.#open[0] : this.#open.find(({ hasEnded }) => hasEnded);
  }

  #completeSegment(reply: Reply, calls: readonly ToolCall[]): ToolCall[] {
    const { messageId = "", name, chars } = reply;
    reply.messageId = undefined;
    reply.segments++;
    // Both are written at once: nothing is awaited in between.
    const requested = this.#writer.complete(messageId, calls);
    this.#journal.putReply(this.#request, name, { chars, segments: reply.segments });
    return requested;
  }

  #get(name: string): Reply {
    const known = this.#replies.get(name);
    if (known) return known;
    if (this.#replies.size >= maxReplies) throw new Error(`A request can have at most ${maxReplies} replies.`);
    const { chars = 0, segments = 0 } = this.#journal.findReply(this.#request, name) ?? {};
    const reply = { name, buffer: "", messageId: undefined, chars, repeated: 0, segments, hasEnded: false };
    this.#replies.set(name, reply);
    return reply;
  }

  #count(reply: Reply, text: string): void {
    this.#chars += text.length;
    if (reply.repeated + reply.buffer.length + text.length > maxReplyChars)
      throw new Error(`A reply can have at most ${maxReplyChars} characters. Write long results to a file.`);
    if (this.#chars > maxRequestChars)
      throw new Error(`The replies to a message can have at most ${maxRequestChars} characters together.`);
  }

  #createId(name: string, part: string): string {
    const { turn, number } = this.#request;
    return `${turn}-${number}-${name}-${part}`;
  }
}

/** Returns what messages of the same reply have in common. */
export function getReplyId(messageId: string): string {
  return messageId.slice(0, messageId.lastIndexOf("-"));
}

/** Returns the number of the request of this turn that wrote a message, or undefined if no code did. */
export function parseRequestNumber(messageId: string, turn: string): number | undefined {
  return messageId.startsWith(`${turn}-`) ? Number(messageId.slice(turn.length + 1).split("-")[0]) : undefined;
}

function shortenArguments(args: unknown): unknown {
  const json = JSON.stringify(args) ?? "null";
  return json.length <= maxArgumentChars ? args : `${json.slice(0, maxArgumentChars)}…`;
}
