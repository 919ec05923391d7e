import type { Activity, NewEvent } from "@thinkery/sdk";
import { type Redactor, StreamRedactor } from "@thinkery/sdk/internal";
import type { AgentStore } from "../../store/agent-store.ts";
import { type Draft, extendDraft } from "../../store/draft.ts";
import type { RecordedEvent } from "../../store/log.ts";

/**
 * How often streamed text is stored: each write costs a disk sync. Randomized so that agents that started together do
 * not all write together.
 */
const getStoreIntervalMs = () => 110 + Math.random() * 80;

/** Receives what is recorded, for the connected clients. */
export interface Listener {
  /** Stored events, with their sequence numbers. */
  onRecorded(events: readonly RecordedEvent[]): void;
  /** Text of the model that is not stored yet. */
  onText(messageId: string, text: string, reasoning: string): void;
  /** What a tool call shows while it runs; never stored. */
  onProgress(runId: string, callId: string, text: string): void;
  /** What the agent's code shows while it works; never stored. */
  onActivity(runId: string, activity: Activity): void;
}

/** Writes all events of an agent to its log and passes them to the listener. */
export class Recorder {
  readonly #store: AgentStore;
  readonly #listener: Listener;
  readonly #redactor: Redactor;
  readonly #textRedactor: StreamRedactor;
  readonly #reasoningRedactor: StreamRedactor;
  /** What code shows that it thinks, by turn. */
  readonly #thoughts = new Map<string, StreamRedactor>();
  /** What running calls show, by call. */
  readonly #progress = new Map<string, StreamRedactor>();
  #text = "";
  #reasoning = "";
  #runId = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: AgentStore, listener: Listener, redactor: Redactor) {
    this.#store = store;
    this.#listener = listener;
    this.#redactor = redactor;
    this.#textRedactor = new StreamRedactor(redactor);
    this.#reasoningRedactor = new StreamRedactor(redactor);
  }

  record(...events: NewEvent[]): void {
    // Text that came before an event is logged before it.
    this.#add(this.#textRedactor.flush(), this.#reasoningRedactor.flush());
    for (const runId of this.#thoughts.keys()) this.#flushThoughts(runId);
    const delta = this.#takeDelta();
    for (const { type, data } of events)
      if (type === "tool.output" || type === "tool.error") this.#progress.delete(data.callId);
    this.#write(delta ? [delta, ...events] : events);
  }

  appendDelta(runId: string, text: string, reasoning: string): void {
    this.#runId = runId;
    this.#add(this.#textRedactor.push(text), this.#reasoningRedactor.push(reasoning));
  }

  show(runId: string, callId: string, text: string): void {
    const redactor = this.#progress.get(callId) ?? new StreamRedactor(this.#redactor);
    this.#progress.set(callId, redactor);
    this.#listener.onProgress(runId, callId, redactor.push(text));
  }

  showActivity(runId: string, activity: Activity): void {
    if (activity.kind !== "thinking") {
      this.#flushThoughts(runId);
      return this.#listener.onActivity(runId, this.#redactor.redactValue(activity));
    }
    const redactor = this.#thoughts.get(runId) ?? new StreamRedactor(this.#redactor);
    this.#thoughts.set(runId, redactor);
    this.#showThought(runId, redactor.push(activity.text));
  }

  /** Drops text that is not stored yet, after its call failed. */
  discardText(): void {
    this.#textRedactor.flush();
    this.#reasoningRedactor.flush();
    this.#takeDelta();
  }

  /** Returns the message that is being streamed, including text that is not stored yet. */
  getDraft(): Draft | undefined {
    const { draft } = this.#store.messages;
    return draft && extendDraft(draft, this.#text, this.#reasoning);
  }

  /** Shows what was held back because it might have been the beginning of a secret. */
  #flushThoughts(runId: string): void {
    this.#showThought(runId, this.#thoughts.get(runId)?.flush() ?? "");
    this.#thoughts.delete(runId);
  }

  #showThought(runId: string, text: string): void {
    if (text) this.#listener.onActivity(runId, { kind: "thinking", text });
  }

  #add(text: string, reasoning: string): void {
    if (!text && !reasoning) return;
    this.#text += text;
    this.#reasoning += reasoning;
    this.#timer ??= setTimeout(() => this.#save(), getStoreIntervalMs());
    this.#listener.onText(this.#store.messages.draft?.messageId ?? "", text, reasoning);
  }

  #save(): void {
    const delta = this.#takeDelta();
    if (delta) this.#write([delta]);
  }

  // The events are stored, so a failing listener must not fail the caller.
  #write(events: readonly NewEvent[]): void {
    const recorded = this.#store.record(events);
    try {
      this.#listener.onRecorded(recorded);
    } catch (error) {
      console.error("a listener failed", error);
    }
  }

  #takeDelta(): NewEvent | undefined {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = undefined;
    const [delta, reasoning, runId] = [this.#text, this.#reasoning, this.#runId];
    this.#text = "";
    this.#reasoning = "";
    if (!delta && !reasoning) return undefined;
    return { type: "model.delta", data: { runId, ...(delta ? { delta } : {}), ...(reasoning ? { reasoning } : {}) } };
  }
}
