import type { Activity, AgentEvent, ChatFrame, SubagentFrame } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import type { RecordedEvent } from "../store/log.ts";
import type { Listener } from "../turn/loop/recorder.ts";
import { toChatFrames } from "./chat-frames.ts";

/** Text is collected this long before it is sent, because every frame has a cost per client. */
const flushDelayMs = 20;

/** An event or chat frame, with its text serialized once. */
export type Frame =
  | { event: AgentEvent; frame?: undefined; text: string }
  | { frame: ChatFrame; event?: undefined; text: string };

/** A receiver of frames: a socket or a stream. */
export interface Subscriber {
  /** Whether it wants every action as it is logged. */
  readonly wantsActions?: boolean;
  /** Whether it wants to see what sub-agents do that stream. */
  readonly wantsSubagents?: boolean;
  receive(frames: readonly Frame[]): void;
}

type PendingFrame = { event: AgentEvent; text: string } | { frame: ChatFrame };

/** Broadcasts what one agent records to its subscribers. */
export class Broadcaster implements Listener {
  readonly #store: AgentStore;
  readonly #onFlush: () => void;
  readonly #subscribers = new Set<Subscriber>();
  #pending: PendingFrame[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: AgentStore, onFlush: () => void) {
    this.#store = store;
    this.#onFlush = onFlush;
  }

  /** Flushes first: a new subscriber starts from what is stored and receives only what follows. */
  subscribe(subscriber: Subscriber): void {
    this.flush();
    this.#subscribers.add(subscriber);
  }

  unsubscribe(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
  }

  onRecorded(events: readonly RecordedEvent[]): void {
    let isTurnOver = false;
    for (const recorded of events) {
      const { event } = recorded;
      isTurnOver ||= event.type === "agent.completed" || event.type === "agent.error" || event.type === "run.canceled";
      if (this.#subscribers.size === 0) continue;
      this.#pending.push(recorded);
      for (const frame of toChatFrames(event, this.#store)) this.#pending.push({ frame });
      if (event.type === "tool.output" || event.type === "tool.error") this.#addAction();
    }
    if (isTurnOver) this.flush();
    else if (this.#pending.length > 0) this.#scheduleFlush();
  }

  onText(messageId: string, text: string, reasoning: string): void {
    if (this.#subscribers.size === 0) return;
    if (reasoning) this.#addDelta({ type: "reasoning", content: reasoning, messageId });
    if (text) this.#addDelta({ type: "text_delta", delta: text, messageId });
    this.#scheduleFlush();
  }

  onProgress(runId: string, callId: string, text: string): void {
    if (this.#subscribers.size === 0 || !text) return;
    const last = this.#pending.at(-1);
    const isSame = last && "frame" in last && last.frame.type === "tool_progress" && last.frame.callId === callId;
    if (isSame && last.frame.type === "tool_progress") last.frame.text += text;
    else this.#pending.push({ frame: { type: "tool_progress", callId, text, runId } });
    this.#scheduleFlush();
  }

  onActivity(runId: string, activity: Activity): void {
    if (this.#subscribers.size === 0) return;
    const last = this.#pending.at(-1);
    const former = last && "frame" in last && last.frame.type === "activity" ? last.frame.activity : undefined;
    if (former?.kind === "thinking" && activity.kind === "thinking") former.text += activity.text;
    else this.#pending.push({ frame: { type: "activity", runId, activity: { ...activity } } });
    this.#scheduleFlush();
  }

  /** Passes on frames of sub-agents. Returns whether anyone wants them. */
  relay(frames: readonly SubagentFrame[]): boolean {
    if (![...this.#subscribers].some(({ wantsSubagents }) => wantsSubagents)) return false;
    for (const frame of frames) this.#pending.push({ frame });
    this.#scheduleFlush();
    return true;
  }

  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = undefined;
    const pending = this.#pending;
    this.#pending = [];
    if (pending.length > 0 && this.#subscribers.size > 0) {
      const frames = pending.map((item): Frame =>
        "event" in item ? item : { frame: item.frame, text: JSON.stringify(item.frame) },
      );
      for (const subscriber of this.#subscribers) subscriber.receive(frames);
    }
    this.#onFlush();
  }

  #addAction(): void {
    const action = [...this.#subscribers].some(({ wantsActions }) => wantsActions)
      ? this.#store.actions.getLatest()
      : undefined;
    if (action) this.#pending.push({ frame: { type: "action", action } });
  }

  // Consecutive deltas of one message are merged into one frame.
  #addDelta(frame: Extract<ChatFrame, { type: "text_delta" | "reasoning" }>): void {
    const last = this.#pending.at(-1);
    if (last && "frame" in last && last.frame.type === frame.type && last.frame.messageId === frame.messageId) {
      if (last.frame.type === "text_delta" && frame.type === "text_delta") last.frame.delta += frame.delta;
      else if (last.frame.type === "reasoning" && frame.type === "reasoning") last.frame.content += frame.content;
    } else {
      this.#pending.push({ frame: { ...frame } });
    }
  }

  #scheduleFlush(): void {
    this.#timer ??= setTimeout(() => this.flush(), flushDelayMs);
  }
}
