import type { NewEvent } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import { type Draft, extendDraft } from "../../store/draft.ts";
import type { RecordedEvent } from "../../store/log.ts";

/**
 * Streamed text is stored about this often while it comes: each write costs a sync of the disk. Not exactly, or
 * agents that began together would all write together.
 */
const getStoreIntervalMs = () => 110 + Math.random() * 80;

/** Whoever hears what is recorded: the clients that are connected. */
export interface Listener {
  /** Facts that are stored, with their numbers. */
  onRecorded(events: readonly RecordedEvent[]): void;
  /** Words of the model that are not stored yet. */
  onText(messageId: string, text: string, reasoning: string): void;
  /** What a tool call shows while it goes on; nobody stores it. */
  onProgress(runId: string, callId: string, text: string): void;
}

/** The one way into the log. */
export class Recorder {
  readonly #store: AgentStore;
  readonly #listener: Listener;
  #text = "";
  #reasoning = "";
  #runId = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: AgentStore, listener: Listener) {
    this.#store = store;
    this.#listener = listener;
  }

  record(...events: NewEvent[]): void {
    // What was said before a fact stands before it.
    const delta = this.#takeDelta();
    this.#write(delta ? [delta, ...events] : events);
  }

  say(runId: string, text: string, reasoning: string): void {
    this.#runId = runId;
    this.#text += text;
    this.#reasoning += reasoning;
    this.#timer ??= setTimeout(() => this.#save(), getStoreIntervalMs());
    this.#listener.onText(this.#store.messages.draft?.messageId ?? "", text, reasoning);
  }

  show(runId: string, callId: string, text: string): void {
    this.#listener.onProgress(runId, callId, text);
  }

  /** A call that failed takes back what it said and was not stored. */
  discardText(): void {
    this.#takeDelta();
  }

  /** What is being said right now, stored or not. */
  getDraft(): Draft | undefined {
    const { draft } = this.#store.messages;
    return draft && extendDraft(draft, this.#text, this.#reasoning);
  }

  #save(): void {
    const delta = this.#takeDelta();
    if (delta) this.#write([delta]);
  }

  // What is stored is true, whatever becomes of those who hear of it.
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
