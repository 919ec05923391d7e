import type { Outcome } from "../protocol/turn.ts";
import type { EventLogReader } from "./event-log-reader.ts";
import { type TurnEvent, TurnReader } from "./turn-event.ts";

export type { TurnEvent } from "./turn-event.ts";

interface TurnOptions {
  log: EventLogReader;
  agent: string;
  runId: string;
  messageId: string;
  /** The number of an event before the turn. */
  after: number;
  cancel(runId: string): Promise<void>;
}

/**
 * The turn that a message started or joined. Turns are durable: a client that disconnects does not stop them. Iterate
 * over a turn to get everything that happens in it, from its beginning and across lost connections. Leaving the loop
 * closes the connection.
 */
export class Turn implements AsyncIterable<TurnEvent> {
  /** The id of the message. */
  readonly messageId: string;
  readonly #options: TurnOptions;
  #runId: string;
  #outcome: Outcome | undefined;
  #waiting: Promise<Outcome> | undefined;

  constructor(options: TurnOptions) {
    this.#options = options;
    this.messageId = options.messageId;
    this.#runId = options.runId;
  }

  /** The id of the turn. Changes if the message joined a turn that ended before taking it in. */
  get runId(): string {
    return this.#runId;
  }

  [Symbol.asyncIterator](): AsyncGenerator<TurnEvent> {
    return this.events();
  }

  /** Iterates over the events of the turn, like the turn itself, until the signal aborts. */
  async *events({ signal }: { signal?: AbortSignal } = {}): AsyncGenerator<TurnEvent> {
    const { log, agent, runId, after } = this.#options;
    const reader = new TurnReader(agent, runId, this.messageId);
    for await (const event of log.followWithProgress(after, { signal, progress: true })) {
      yield* reader.read(event);
      this.#runId = reader.runId;
      if (!reader.outcome) continue;
      this.#outcome = reader.outcome;
      return;
    }
  }

  /** Waits for the turn to end and returns its outcome. */
  async outcome(): Promise<Outcome> {
    this.#waiting ??= this.#wait().finally(() => (this.#waiting = undefined));
    return this.#waiting;
  }

  /** Cancels the turn if it has not ended. The outcome tells whether it was canceled in time. */
  cancel(): Promise<void> {
    return this.#options.cancel(this.#runId);
  }

  async #wait(): Promise<Outcome> {
    const events = this.events();
    while (!this.#outcome) await events.next();
    // Another iteration of this turn may have reached the outcome first.
    await events.return(undefined);
    return this.#outcome;
  }
}
