import {
  type AgentEvent,
  type ChatFrame,
  type ConversationUpdate,
  type Message,
  type MessageToolResult,
  noteText,
  type Todo,
  updatesFromBoth,
} from "@thinkery/sdk";
import { type Capability, capabilityAfter } from "@thinkery/sdk/client";
import type { ShownCall, ShownResult } from "./lines.ts";

/** Who shows what an agent says and does. Text comes in pieces, each piece once. */
export interface Listener {
  text(piece: string): void;
  /** The next text belongs to another message. */
  paragraph(): void;
  /** What was shown of this message does not hold; the next text is all of it. */
  again(): void;
  reasoning?(piece: string): void;
  call?(call: ShownCall, result: ShownResult): void;
  /** A call that goes on shows what it does, after what it showed before. */
  progress?(call: ShownCall, text: string): void;
  /** The code of a call was answered something that it had called. */
  within?(call: ShownCall, made: Capability): void;
  todos?(todos: Todo[]): void;
  title?(title: string): void;
  retry?(error: string, retryInMs: number): void;
  /** Something that is worth knowing and changes nothing of what is said. */
  note?(text: string): void;
  /** Somebody said this to the agent. */
  said?(message: Message): void;
}

interface Open {
  id: string;
  runId: string | undefined;
  step: number | undefined;
  /** What the agent has said of it, and what of that was shown: behind after a reconnect, ahead after a restart. */
  said: string;
  shown: string;
}

/** These show by what they did, not by their call. */
const quietTools = new Set(["write_todos", "set_title"]);

/**
 * Turns an agent's frames into what a reader sees, over lost connections and restarts of the host: nothing is
 * missing and nothing is there twice.
 */
export class Transcript {
  private open: Open | undefined;
  private current: string | undefined;
  private readonly begun = new Map<string, { runId: string; step: number }>();
  private readonly finished = new Set<string>();
  private readonly unheard = new Set<string>();
  private readonly calls = new Map<string, ShownCall>();
  private readonly answered = new Set<string>();
  /** What code has called and was not answered, with the call that runs the code. */
  private readonly underWay = new Map<string, { within: string; made: Capability }>();
  private readonly listener: Listener;
  private readonly accepts: (runId: string) => boolean;

  constructor(listener: Listener, accepts: (runId: string) => boolean = () => true) {
    this.listener = listener;
    this.accepts = accepts;
  }

  take(frame: ChatFrame | AgentEvent): void {
    switch (frame.type) {
      case "text_done":
        this.finished.add(frame.messageId);
        return;
      case "pending-message":
        this.learn(frame.message);
        if (this.shows(frame.message.id)) this.replace(frame.message.id, frame.message.content);
        return;
      case "message-complete":
        this.catchUp([frame.message]);
        return;
      default:
        for (const update of updatesFromBoth(frame)) this.update(update);
    }
  }

  private update(update: ConversationUpdate): void {
    switch (update.kind) {
      case "turn-started":
      case "turn-resumed":
        this.current = update.runId;
        return;
      case "draft-started": {
        const { messageId: id, runId, step } = update;
        this.current = runId;
        // The model is asked for the same message once more.
        if (this.begun.has(id) && this.open?.id === id) this.open.said = "";
        this.begun.set(id, { runId, step });
        return;
      }
      case "draft-text": {
        const { messageId = "", text, reasoning } = update;
        if (!this.shows(messageId)) return;
        if (reasoning) this.listener.reasoning?.(reasoning);
        if (text) this.append(messageId, text);
        return;
      }
      case "draft-discarded":
        if (this.open?.runId === update.runId && !this.finished.has(this.open.id)) this.open.said = "";
        return;
      case "retry":
        if (this.accepts(update.runId)) this.listener.retry?.(update.error, update.inMs);
        return;
      case "message-completed":
        for (const call of update.calls) this.calls.set(call.id, call);
        return;
      case "call":
        this.current = update.runId;
        this.calls.set(update.call.id, update.call);
        return;
      case "call-settled":
        if (this.accepts(update.runId)) this.answer(update.callId, update.name, update.result);
        return;
      case "call-progress":
        if (this.accepts(update.runId)) this.showProgress(this.underWay.get(update.callId)?.within ?? update.callId, update.text);
        return;
      case "capability":
        this.takeCapability(update);
        return;
      case "turn-paused":
        if (this.accepts(update.runId)) this.listener.note?.("The agent waits for an answer that is reported later.");
        return;
      case "note":
        if (this.accepts(update.runId)) this.listener.note?.(noteText(update.note));
        return;
      case "todos":
        if (this.isCurrent()) this.listener.todos?.(update.todos);
        return;
      case "title":
        if (this.isCurrent()) this.listener.title?.(update.title);
        return;
      default:
    }
  }

  /** This was said from here and is not shown again. */
  know(messageId: string): void {
    this.finished.add(messageId);
  }

  /** Somebody said this, though it may have to wait for its place in the conversation. */
  heard(messages: Message[]): void {
    for (const message of messages) {
      if (this.finished.has(message.id)) continue;
      this.finished.add(message.id);
      if (this.accepts(message.runId)) this.listener.said?.(message);
    }
  }

  /** Whoever joins a turn in the middle of a message hears from the next one on. */
  skipBegun(): void {
    for (const id of this.begun.keys()) {
      this.finished.add(id);
      this.unheard.add(id);
    }
  }

  /** These are known already and not shown. */
  skip(messages: Message[]): void {
    for (const message of messages) {
      this.learn(message);
      if (isFinal(message)) this.finished.add(message.id);
      if (message.toolResult) this.answered.add(message.toolResult.callId);
    }
  }

  /** The conversation as it is now; what of it was not shown yet is shown. */
  catchUp(messages: Message[]): void {
    for (const message of messages) {
      this.learn(message);
      if (!isFinal(message) || !this.accepts(message.runId)) continue;
      if (message.role === "assistant") this.finish(message);
      else if (message.toolResult) this.answer(message.toolResult.callId, message.toolResult.name, shortened(message.toolResult));
      else this.heard([message]);
      this.finished.add(message.id);
    }
  }

  /** The turn's last word, should its message not have come. */
  conclude(content: string): void {
    if (content === "" || this.open?.said.trim() === content.trim()) return;
    this.replace("", content);
  }

  private finish({ id, content, status }: Message): void {
    const mine = this.open?.id === id;
    if (this.finished.has(id) && !mine) return;
    if (content !== "" || mine) this.replace(id, content);
    // A restart may have made it shorter than what was shown of the first try.
    if (this.open?.id === id && status === "complete" && this.open.shown !== content) this.retell(this.open);
  }

  private learn({ id, role, runId, step, toolCalls = [] }: Message): void {
    if (role === "assistant" && !this.begun.has(id)) this.begun.set(id, { runId, step: step ?? 0 });
    for (const call of toolCalls) this.calls.set(call.id, call);
  }

  private append(id: string, piece: string): void {
    const open = this.turnTo(id);
    const inStep = open.said.length === open.shown.length;
    open.said += piece;
    if (!inStep) return this.show(open);
    open.shown = open.said;
    this.listener.text(piece);
  }

  private replace(id: string, content: string): void {
    if (content === "" && this.open?.id !== id) return;
    const open = this.turnTo(id);
    open.said = content;
    this.show(open);
  }

  private show(open: Open): void {
    if (open.shown.startsWith(open.said)) return;
    if (!open.said.startsWith(open.shown)) return this.retell(open);
    this.listener.text(open.said.slice(open.shown.length));
    open.shown = open.said;
  }

  private retell(open: Open): void {
    this.listener.again();
    if (open.said !== "") this.listener.text(open.said);
    open.shown = open.said;
  }

  /** The message that text goes to now. One that takes the place of an unfinished one repeats what that had said. */
  private turnTo(id: string): Open {
    const before = this.open;
    if (before?.id === id) return before;
    const begun = this.begun.get(id);
    const runId = begun?.runId ?? this.current;
    const repeats =
      before !== undefined &&
      !this.finished.has(before.id) &&
      before.runId === runId &&
      (begun === undefined || before.step === undefined || begun.step <= before.step);
    this.open = { id, runId, step: begun?.step, said: "", shown: repeats ? before.shown : "" };
    if (before && before.shown !== "" && !repeats) this.listener.paragraph();
    return this.open;
  }

  private answer(callId: string, name: string, result: ShownResult): void {
    if (this.answered.has(callId)) return;
    this.answered.add(callId);
    if (quietTools.has(name) && !result.failed) return;
    this.listener.call?.(this.calls.get(callId) ?? { name, input: undefined }, result);
  }

  private showProgress(callId: string, text: string): void {
    const call = this.calls.get(callId);
    if (call && !this.answered.has(callId)) this.listener.progress?.(call, text);
  }

  private takeCapability({ runId, callId: within, event }: Extract<ConversationUpdate, { kind: "capability" }>): void {
    const { callId } = event.data;
    const made = capabilityAfter(this.underWay.get(callId)?.made, event);
    if (made.state === "running") {
      this.underWay.set(callId, { within, made });
      return;
    }
    this.underWay.delete(callId);
    if (!this.accepts(runId) || (quietTools.has(made.name) && made.state === "done")) return;
    this.listener.within?.(this.calls.get(within) ?? { id: within, name: "code", input: undefined }, made);
  }

  private shows(messageId: string): boolean {
    if (this.unheard.has(messageId)) return false;
    const runId = this.begun.get(messageId)?.runId ?? this.current;
    return runId === undefined || this.accepts(runId);
  }

  private isCurrent(): boolean {
    return this.current === undefined || this.accepts(this.current);
  }
}

function isFinal({ status }: Message): boolean {
  return status !== "pending" && status !== "streaming";
}

function shortened({ summary, preview, failed }: MessageToolResult): ShownResult {
  return { output: summary || preview, failed };
}
