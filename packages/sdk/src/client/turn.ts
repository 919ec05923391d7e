import type { Outcome } from "../protocol/turn.ts";
import type { EventLogReader } from "./event-log-reader.ts";
import { type TurnEvent, TurnReader } from "./turn-event.ts";

export type { TurnEvent } from "./turn-event.ts";

interface TurnOptions {
  log: EventLogReader;
  agent: string;
  runId: string;
  messageId: string;
  /** An event that came before the turn. */
  after: number;
  cancel(runId: string): Promise<void>;
}

/**
 * Something said to an agent, until its outcome. It is durable: whoever leaves does not stop it. Iterating tells all
 * that happens in it, from its beginning, over any number of lost connections; leaving the loop ends the connection.
 */
export class Turn implements AsyncIterable<TurnEvent> {
  /** The message as the agent knows it. */
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

  /** Another one later on if the message had joined a turn that ended without it. */
  get runId(): string {
    return this.#runId;
  }

  [Symbol.asyncIterator](): AsyncGenerator<TurnEvent> {
    return this.events();
  }

  /** The same as iterating over the turn itself, for whoever may want to stop waiting. */
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

  /** How it ended, now or later. */
  async outcome(): Promise<Outcome> {
    this.#waiting ??= this.#wait().finally(() => (this.#waiting = undefined));
    return this.#waiting;
  }

  /** Ends it, if it is not over. Its outcome says whether this came in time. */
  cancel(): Promise<void> {
    return this.#options.cancel(this.#runId);
  }

  async #wait(): Promise<Outcome> {
    const events = this.events();
    while (!this.#outcome) await events.next();
    // Somebody else may have come to the end first.
    await events.return(undefined);
    return this.#outcome;
  }
}
