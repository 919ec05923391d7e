import {
  type AgentEvent,
  type ChatFrame,
  type ConversationUpdate,
  type Message,
  type MessageToolResult,
  formatNote,
  type Todo,
  toUpdates,
} from "@thinkery/sdk";
import { type Capability, reduceCapability } from "@thinkery/sdk/client";
import type { ShownCall, ShownResult } from "./lines.ts";

/** Who shows what an agent says and does. Text comes in pieces, each piece once. */
export interface TranscriptListener {
  onText(piece: string): void;
  /** The next text belongs to another message. */
  onParagraph(): void;
  /** What was shown of this message does not hold; the next text is all of it. */
  onRestart(): void;
  onReasoning?(piece: string): void;
  onCall?(call: ShownCall, result: ShownResult): void;
  /** A call that goes on shows what it does, after what it showed before. */
  onProgress?(call: ShownCall, text: string): void;
  /** The code of a call was answered something that it had called. */
  onCapability?(call: ShownCall, made: Capability): void;
  onTodos?(todos: Todo[]): void;
  onTitle?(title: string): void;
  onRetry?(error: string, retryInMs: number): void;
  /** Something that is worth knowing and changes nothing of what is said. */
  onNote?(text: string): void;
  /** Somebody said this to the agent. */
  onMessage?(message: Message): void;
}

interface OpenMessage {
  id: string;
  runId: string | undefined;
  step: number | undefined;
  /** What the agent has said of it, and what of that was shown: behind after a reconnect, ahead after a restart. */
  receivedText: string;
  shownText: string;
}

/** These show by what they did, not by their call. */
const quietTools = new Set(["write_todos", "set_title"]);

/**
 * Turns an agent's frames into what a reader sees, over lost connections and restarts of the host: nothing is
 * missing and nothing is there twice.
 */
export class Transcript {
  private openMessage: OpenMessage | undefined;
  private currentRunId: string | undefined;
  private readonly startedMessages = new Map<string, { runId: string; step: number }>();
  private readonly finishedIds = new Set<string>();
  private readonly skippedIds = new Set<string>();
  private readonly calls = new Map<string, ShownCall>();
  private readonly answeredCalls = new Set<string>();
  /** What code has called and was not answered, with the call that runs the code. */
  private readonly openCapabilities = new Map<string, { parentCallId: string; made: Capability }>();
  private readonly listener: TranscriptListener;
  private readonly accepts: (runId: string) => boolean;

  constructor(listener: TranscriptListener, accepts: (runId: string) => boolean = () => true) {
    this.listener = listener;
    this.accepts = accepts;
  }

  handleFrame(frame: ChatFrame | AgentEvent): void {
    switch (frame.type) {
      case "text_done":
        this.finishedIds.add(frame.messageId);
        return;
      case "pending-message":
        this.register(frame.message);
        if (this.isShown(frame.message.id)) this.replace(frame.message.id, frame.message.content);
        return;
      case "message-complete":
        this.catchUp([frame.message]);
        return;
      default:
        for (const update of toUpdates(frame)) this.applyUpdate(update);
    }
  }

  private applyUpdate(update: ConversationUpdate): void {
    switch (update.kind) {
      case "turn-started":
      case "turn-resumed":
        this.currentRunId = update.runId;
        return;
      case "draft-started": {
        const { messageId: id, runId, step } = update;
        this.currentRunId = runId;
        // The model is asked for the same message once more.
        if (this.startedMessages.has(id) && this.openMessage?.id === id) this.openMessage.receivedText = "";
        this.startedMessages.set(id, { runId, step });
        return;
      }
      case "draft-text": {
        const { messageId = "", text, reasoning } = update;
        if (!this.isShown(messageId)) return;
        if (reasoning) this.listener.onReasoning?.(reasoning);
        if (text) this.append(messageId, text);
        return;
      }
      case "draft-discarded":
        if (this.openMessage?.runId === update.runId && !this.finishedIds.has(this.openMessage.id))
          this.openMessage.receivedText = "";
        return;
      case "retry":
        if (this.accepts(update.runId)) this.listener.onRetry?.(update.error, update.inMs);
        return;
      case "message-completed":
        for (const call of update.calls) this.calls.set(call.id, call);
        return;
      case "call":
        this.currentRunId = update.runId;
        this.calls.set(update.call.id, update.call);
        return;
      case "call-settled":
        if (this.accepts(update.runId)) this.showResult(update.callId, update.name, update.result);
        return;
      case "call-progress":
        if (this.accepts(update.runId))
          this.showProgress(this.openCapabilities.get(update.callId)?.parentCallId ?? update.callId, update.text);
        return;
      case "capability":
        this.handleCapability(update);
        return;
      case "turn-paused":
        if (this.accepts(update.runId)) this.listener.onNote?.("The agent waits for an answer that is reported later.");
        return;
      case "note":
        if (this.accepts(update.runId)) this.listener.onNote?.(formatNote(update.note));
        return;
      case "todos":
        if (this.isCurrent()) this.listener.onTodos?.(update.todos);
        return;
      case "title":
        if (this.isCurrent()) this.listener.onTitle?.(update.title);
        return;
      default:
    }
  }

  /** This was said from here and is not shown again. */
  markShown(messageId: string): void {
    this.finishedIds.add(messageId);
  }

  /** Somebody said this, though it may have to wait for its place in the conversation. */
  addMessages(messages: Message[]): void {
    for (const message of messages) {
      if (this.finishedIds.has(message.id)) continue;
      this.finishedIds.add(message.id);
      if (this.accepts(message.runId)) this.listener.onMessage?.(message);
    }
  }

  /** Whoever joins a turn in the middle of a message hears from the next one on. */
  skipStarted(): void {
    for (const id of this.startedMessages.keys()) {
      this.finishedIds.add(id);
      this.skippedIds.add(id);
    }
  }

  /** These are known already and not shown. */
  skip(messages: Message[]): void {
    for (const message of messages) {
      this.register(message);
      if (isFinal(message)) this.finishedIds.add(message.id);
      if (message.toolResult) this.answeredCalls.add(message.toolResult.callId);
    }
  }

  /** The conversation as it is now; what of it was not shown yet is shown. */
  catchUp(messages: Message[]): void {
    for (const message of messages) {
      this.register(message);
      if (!isFinal(message) || !this.accepts(message.runId)) continue;
      if (message.role === "assistant") this.finish(message);
      else if (message.toolResult)
        this.showResult(message.toolResult.callId, message.toolResult.name, toShownResult(message.toolResult));
      else this.addMessages([message]);
      this.finishedIds.add(message.id);
    }
  }

  /** The turn's last word, should its message not have come. */
  conclude(content: string): void {
    if (content === "" || this.openMessage?.receivedText.trim() === content.trim()) return;
    this.replace("", content);
  }

  private finish({ id, content, status }: Message): void {
    const mine = this.openMessage?.id === id;
    if (this.finishedIds.has(id) && !mine) return;
    if (content !== "" || mine) this.replace(id, content);
    // A restart may have made it shorter than what was shown of the first try.
    if (this.openMessage?.id === id && status === "complete" && this.openMessage.shownText !== content)
      this.showAgain(this.openMessage);
  }

  private register({ id, role, runId, step, toolCalls = [] }: Message): void {
    if (role === "assistant" && !this.startedMessages.has(id)) this.startedMessages.set(id, { runId, step: step ?? 0 });
    for (const call of toolCalls) this.calls.set(call.id, call);
  }

  private append(id: string, piece: string): void {
    const open = this.switchTo(id);
    const isUpToDate = open.receivedText.length === open.shownText.length;
    open.receivedText += piece;
    if (!isUpToDate) return this.show(open);
    open.shownText = open.receivedText;
    this.listener.onText(piece);
  }

  private replace(id: string, content: string): void {
    if (content === "" && this.openMessage?.id !== id) return;
    const open = this.switchTo(id);
    open.receivedText = content;
    this.show(open);
  }

  private show(open: OpenMessage): void {
    if (open.shownText.startsWith(open.receivedText)) return;
    if (!open.receivedText.startsWith(open.shownText)) return this.showAgain(open);
    this.listener.onText(open.receivedText.slice(open.shownText.length));
    open.shownText = open.receivedText;
  }

  private showAgain(open: OpenMessage): void {
    this.listener.onRestart();
    if (open.receivedText !== "") this.listener.onText(open.receivedText);
    open.shownText = open.receivedText;
  }

  /** The message that text goes to now. One that takes the place of an unfinished one repeats what that had said. */
  private switchTo(id: string): OpenMessage {
    const before = this.openMessage;
    if (before?.id === id) return before;
    const begun = this.startedMessages.get(id);
    const runId = begun?.runId ?? this.currentRunId;
    const repeats =
      before !== undefined &&
      !this.finishedIds.has(before.id) &&
      before.runId === runId &&
      (begun === undefined || before.step === undefined || begun.step <= before.step);
    this.openMessage = { id, runId, step: begun?.step, receivedText: "", shownText: repeats ? before.shownText : "" };
    if (before && before.shownText !== "" && !repeats) this.listener.onParagraph();
    return this.openMessage;
  }

  private showResult(callId: string, name: string, result: ShownResult): void {
    if (this.answeredCalls.has(callId)) return;
    this.answeredCalls.add(callId);
    if (quietTools.has(name) && !result.failed) return;
    this.listener.onCall?.(this.calls.get(callId) ?? { name, input: undefined }, result);
  }

  private showProgress(callId: string, text: string): void {
    const call = this.calls.get(callId);
    if (call && !this.answeredCalls.has(callId)) this.listener.onProgress?.(call, text);
  }

  private handleCapability({
    runId,
    callId: parentCallId,
    event,
  }: Extract<ConversationUpdate, { kind: "capability" }>): void {
    const { callId } = event.data;
    const made = reduceCapability(this.openCapabilities.get(callId)?.made, event);
    if (made.state === "running") {
      this.openCapabilities.set(callId, { parentCallId, made });
      return;
    }
    this.openCapabilities.delete(callId);
    if (!this.accepts(runId) || (quietTools.has(made.name) && made.state === "done")) return;
    this.listener.onCapability?.(
      this.calls.get(parentCallId) ?? { id: parentCallId, name: "code", input: undefined },
      made,
    );
  }

  private isShown(messageId: string): boolean {
    if (this.skippedIds.has(messageId)) return false;
    const runId = this.startedMessages.get(messageId)?.runId ?? this.currentRunId;
    return runId === undefined || this.accepts(runId);
  }

  private isCurrent(): boolean {
    return this.currentRunId === undefined || this.accepts(this.currentRunId);
  }
}

function isFinal({ status }: Message): boolean {
  return status !== "pending" && status !== "streaming";
}

function toShownResult({ summary, preview, failed }: MessageToolResult): ShownResult {
  return { output: summary || preview, failed };
}
