import type { Activity, NewEvent } from "@thinkery/sdk";
import type { Recorder } from "./recorder.ts";

interface TurnRecorderOptions {
  runId: string;
  recorder: Recorder;
  /** Held until the first write. */
  startEvents: readonly NewEvent[];
  /** Called whenever the turn records or shows something. */
  onActivity(): void;
}

/** Records what one turn does. Batches events to save writes, and ignores everything once the turn is over. */
export class TurnRecorder {
  readonly #options: TurnRecorderOptions;
  /**
   * Events to be written with the next ones. Only our own code runs in between, so they become durable no later, and
   * every write saved is a good part of a turn's cost.
   */
  #held: NewEvent[];
  #isClosed = false;

  constructor(options: TurnRecorderOptions) {
    this.#options = options;
    this.#held = [...options.startEvents];
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Ignores everything from now on, including held events. */
  close(): void {
    this.#isClosed = true;
  }

  hold(...events: NewEvent[]): void {
    if (!this.#isClosed) this.#held.push(...events);
  }

  /** Writes the held events, then these. */
  record(...events: NewEvent[]): void {
    if (this.#isClosed) return;
    this.#options.onActivity();
    const all = [...this.#held, ...events];
    this.#held = [];
    if (all.length > 0) this.#options.recorder.record(...all);
  }

  /** Streams text of the model. */
  appendDelta(text: string, reasoning: string): void {
    if (this.#isClosed) return;
    this.#options.onActivity();
    this.#options.recorder.appendDelta(this.#options.runId, text, reasoning);
  }

  /** Drops streamed text that is not stored yet. */
  discardText(): void {
    if (!this.#isClosed) this.#options.recorder.discardText();
  }

  /** Shows what the agent's code does; nothing is stored. */
  showActivity(activity: Activity): void {
    if (this.#isClosed) return;
    this.#options.onActivity();
    this.#options.recorder.showActivity(this.#options.runId, activity);
  }

  /** Shows the progress of a tool call; nothing is stored. */
  show(callId: string, text: string): void {
    if (this.#isClosed) return;
    this.#options.onActivity();
    this.#options.recorder.show(this.#options.runId, callId, text);
  }
}
