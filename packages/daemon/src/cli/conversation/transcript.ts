import {
  type AgentEvent,
  type ChatFrame,
  type ConversationUpdate,
  type Message,
  type MessageToolResult,
  formatNote,
  type SubagentEvent,
  type SubagentFrame,
  type Todo,
  toUpdates,
} from "@thinkery/sdk";
import type { Capability } from "@thinkery/sdk/client";
import { CapabilityCalls } from "./capability-calls.ts";
import {
  formatApprovalAnswered,
  formatApprovalAsked,
  formatPause,
  formatReports,
  type ShownCall,
  type ShownResult,
} from "./lines.ts";

/** Receives what an agent says and does. Text arrives in chunks, each exactly once. */
export interface TranscriptListener {
  onText(chunk: string): void;
  /** The next text belongs to another message. */
  onParagraph(): void;
  /** The text of this message so far is invalid; the next text is the whole message. */
  onRestart(): void;
  onReasoning?(chunk: string): void;
  onCall?(call: ShownCall, result: ShownResult): void;
  /** Further progress output of a running call. */
  onProgress?(call: ShownCall, text: string): void;
  /** A call made by the code of a tool call has completed. */
  onCapability?(call: ShownCall, capability: Capability): void;
  onTodos?(todos: Todo[]): void;
  onTitle?(title: string): void;
  /** It asks a person for an approval or an answer. */
  onWait?(line: string): void;
  onRetry?(error: string, retryInMs: number): void;
  /** Additional information, not part of the conversation. */
  onNote?(text: string): void;
  /** Something happened to a sub-agent of the turn. */
  onSubagent?(event: SubagentEvent): void;
  /** What a sub-agent does that streams. */
  onSubagentFrame?(frame: SubagentFrame): void;
  /** A message to the agent, possibly from another client. */
  onMessage?(message: Message): void;
}

interface OpenMessage {
  id: string;
  runId: string | undefined;
  step: number | undefined;
  /** `shownText` lags behind `receivedText` after a reconnect, and is ahead of it after a restart. */
  receivedText: string;
  shownText: string;
}

/** Their effect is shown instead of the call. */
const quietTools = new Set(["write_todos", "set_title"]);

/**
 * Turns an agent's frames into a transcript without gaps or duplicates, across lost connections and restarts of
 * the host.
 */
export class Transcript {
  private openMessage: OpenMessage | undefined;
  /** The messages of the current turn, with what was received of them. */
  private readonly turnMessages: OpenMessage[] = [];
  private currentRunId: string | undefined;
  private readonly startedMessages = new Map<string, { runId: string; step: number }>();
  private readonly finishedIds = new Set<string>();
  private readonly skippedIds = new Set<string>();
  private readonly calls = new Map<string, ShownCall>();
  private readonly answeredCalls = new Set<string>();
  private readonly capabilities = new CapabilityCalls();
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
        if (update.kind === "turn-started") this.turnMessages.length = 0;
        this.currentRunId = update.runId;
        return;
      case "draft-started": {
        const { messageId: id, runId, step } = update;
        this.currentRunId = runId;
        // The model call for this message is retried.
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
      case "activity":
        // What code does is shown as its calls.
        if (this.accepts(update.runId) && update.activity.kind === "thinking")
          this.listener.onReasoning?.(update.activity.text);
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
        if (this.accepts(update.runId)) this.showProgress(this.capabilities.findParent(update.callId), update.text);
        return;
      case "capability":
        this.handleCapability(update);
        return;
      case "turn-paused": {
        const note = formatPause(update.reason);
        if (note !== undefined && this.accepts(update.runId)) this.listener.onNote?.(note);
        return;
      }
      case "approval-asked":
        if (this.accepts(update.runId)) this.listener.onWait?.(formatApprovalAsked(update.approval));
        return;
      case "approval-answered":
        if (this.accepts(update.runId)) this.listener.onNote?.(formatApprovalAnswered(update.answer));
        return;
      case "wait-started":
        if (this.accepts(update.runId) && update.continuation.kind === "input")
          this.listener.onWait?.(`It asks: ${update.continuation.prompt ?? ""}`);
        return;
      case "note":
        if (this.accepts(update.runId)) this.listener.onNote?.(formatNote(update.note));
        return;
      case "notice":
        if (this.accepts(update.runId))
          for (const line of formatReports(update.content) ?? []) this.listener.onNote?.(line);
        return;
      case "subagent": {
        const { event } = update;
        const runId = event.type === "subagent.spawned" ? event.data.runId : undefined;
        if (runId === undefined || this.accepts(runId)) this.listener.onSubagent?.(event);
        return;
      }
      case "subagent-frame":
        this.listener.onSubagentFrame?.(update.frame);
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

  /** Marks a message sent by this client as shown. */
  markShown(messageId: string): void {
    this.finishedIds.add(messageId);
  }

  /** Shows messages to the agent, even if they are still queued. */
  addMessages(messages: Message[]): void {
    for (const message of messages) {
      if (this.finishedIds.has(message.id)) continue;
      this.finishedIds.add(message.id);
      if (this.accepts(message.runId)) this.listener.onMessage?.(message);
    }
  }

  /** Skips messages that have already started: after joining a turn, only later messages are shown. */
  skipStarted(): void {
    for (const id of this.startedMessages.keys()) {
      this.finishedIds.add(id);
      this.skippedIds.add(id);
    }
  }

  /** Marks messages as known, so that they are not shown. */
  skip(messages: Message[]): void {
    for (const message of messages) {
      this.register(message);
      if (isFinal(message)) this.finishedIds.add(message.id);
      if (message.toolResult) this.answeredCalls.add(message.toolResult.callId);
    }
  }

  /** Shows what is new in the given messages. */
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

  /** Shows the final content of the turn if it was not received: that of its last message, or of all of them. */
  conclude(content: string): void {
    const received = [this.openMessage, ...this.turnMessages].map((message) => message?.receivedText ?? "");
    const wanted = removeSpace(content);
    if (removeSpace(received[0] ?? "") === wanted || removeSpace(received.slice(1).join("")) === wanted) return;
    this.replace("", content);
  }

  private finish({ id, content, status }: Message): void {
    const isOpen = this.openMessage?.id === id;
    if (this.finishedIds.has(id) && !isOpen) return;
    if (content !== "" || isOpen) this.replace(id, content);
    // After a restart the message may be shorter than what was shown of the first attempt.
    if (this.openMessage?.id === id && status === "complete" && this.openMessage.shownText !== content)
      this.showAgain(this.openMessage);
  }

  private register({ id, role, runId, step, toolCalls = [] }: Message): void {
    if (role === "assistant" && !this.startedMessages.has(id)) this.startedMessages.set(id, { runId, step: step ?? 0 });
    for (const call of toolCalls) this.calls.set(call.id, call);
  }

  private append(id: string, chunk: string): void {
    const open = this.switchTo(id);
    const isUpToDate = open.receivedText.length === open.shownText.length;
    open.receivedText += chunk;
    if (!isUpToDate) return this.show(open);
    open.shownText = open.receivedText;
    this.listener.onText(chunk);
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

  /** Makes a message the open one. A message that replaces an unfinished one is expected to repeat its text. */
  private switchTo(id: string): OpenMessage {
    const previous = this.openMessage;
    if (previous?.id === id) return previous;
    const started = this.startedMessages.get(id);
    const runId = started?.runId ?? this.currentRunId;
    const repeats =
      previous !== undefined &&
      !this.finishedIds.has(previous.id) &&
      previous.runId === runId &&
      (started === undefined || previous.step === undefined || started.step <= previous.step);
    this.openMessage = {
      id,
      runId,
      step: started?.step,
      receivedText: "",
      shownText: repeats ? previous.shownText : "",
    };
    this.turnMessages.push(this.openMessage);
    if (previous && previous.shownText !== "" && !repeats) this.listener.onParagraph();
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

  private handleCapability(update: Extract<ConversationUpdate, { kind: "capability" }>): void {
    const { runId, callId: parentCallId } = update;
    const capability = this.capabilities.apply(update);
    if (!capability || !this.accepts(runId) || (quietTools.has(capability.name) && capability.state === "done")) return;
    this.listener.onCapability?.(
      this.calls.get(parentCallId) ?? { id: parentCallId, name: "code", input: undefined },
      capability,
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

/** The messages of a turn are joined with empty lines. */
const removeSpace = (text: string) => text.replaceAll(/\s+/g, "");

function isFinal({ status }: Message): boolean {
  return status !== "pending" && status !== "streaming";
}

function toShownResult({ summary, preview, failed }: MessageToolResult): ShownResult {
  return { output: summary || preview, failed };
}
