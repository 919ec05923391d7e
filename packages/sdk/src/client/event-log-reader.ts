import { fail, isThinkeryError, toHttpStatus } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { ChatFrame } from "../protocol/frame.ts";
import type { AgentTarget } from "../protocol/target.ts";
import { Backoff } from "./backoff.ts";
import type { EndpointFetch } from "./request.ts";
import { sleep } from "./sleep.ts";
import { parseSse } from "./sse.ts";

/** The host says something at least every 15 s. Without a word for so long, the line is dead. */
const defaultStallMs = 45_000;
/** A host that is killed just as we connect may never answer. */
const maxConnectMs = 10_000;

export interface EventLogOptions {
  ask: EndpointFetch;
  target: AgentTarget;
  /** So long the host may be away, in milliseconds. */
  retryTimeoutMs: number;
  /** So long it may be silent. */
  silence?: number;
}

/** What a call under way shows: told once, to those who listen just then. */
export type Progress = Extract<ChatFrame, { type: "tool_progress" }>;

interface ListenOptions {
  signal?: AbortSignal | undefined;
  /** Hear what calls show, too. */
  progress?: boolean;
}

/** An agent's log, read from its host as it grows. */
export class EventLogReader {
  readonly #options: EventLogOptions;

  constructor(options: EventLogOptions) {
    this.#options = options;
  }

  /** The number of the last event so far. */
  async readEnd(signal: AbortSignal): Promise<number> {
    for await (const { seq } of this.#listen(undefined, { signal })) if (seq !== undefined) return seq;
    throw fail("unavailable", "The host did not say where the log ends.");
  }

  /**
   * Every event after a number (or from now on), once and in order, over any number of lost connections. Ends only
   * when the reader leaves, the host stays away for too long, or it refuses.
   */
  async *follow(after: number | undefined, signal?: AbortSignal): AsyncGenerator<AgentEvent> {
    for await (const item of this.followWithProgress(after, { signal })) if ("seq" in item) yield item;
  }

  /** The same, with what calls show in between where that is asked for. */
  async *followWithProgress(
    after: number | undefined,
    listening: ListenOptions,
  ): AsyncGenerator<AgentEvent | Progress> {
    const { signal } = listening;
    const pauses = new Backoff();
    let position = after;
    let awaySince: number | undefined;
    for (;;) {
      let lost: unknown;
      try {
        for await (const { seq, event, progress } of this.#listen(position, listening)) {
          awaySince = undefined;
          if (progress) yield progress;
          if (seq === undefined) continue;
          if (!event) {
            position ??= seq;
            continue;
          }
          // Not at the welcome already: a host that lets us in only to throw us out is given longer pauses too.
          pauses.reset();
          if (position !== undefined && seq <= position) continue;
          position = seq;
          yield event;
        }
      } catch (error) {
        if (signal?.aborted || isFinal(error)) throw error;
        lost = error;
      }
      awaySince ??= performance.now();
      if (performance.now() - awaySince > this.#options.retryTimeoutMs)
        throw lost ?? fail("unavailable", "The host ends every connection.");
      await sleep(pauses.next(), signal);
    }
  }

  /** One connection, for as long as it holds. The first thing it tells is where it begins. */
  async *#listen(after: number | undefined, { signal, progress }: ListenOptions): AsyncGenerator<LogItem> {
    const { ask, target, silence = defaultStallMs } = this.#options;
    const line = new AbortController();
    const either = signal ? AbortSignal.any([signal, line.signal]) : line.signal;
    const abortStalled = () => line.abort(fail("unavailable", "The host has fallen silent."));
    let timer = setTimeout(abortStalled, Math.min(silence, maxConnectMs));
    try {
      const query = { ...(after === undefined ? {} : { after }), ...(progress ? { progress: "1" as const } : {}) };
      const { agency, agent } = target;
      const { body } = await ask(
        "listEvents",
        { params: { agency, agent }, query, signal: either },
        "text/event-stream",
      );
      if (!body) return;
      for await (const blocks of parseSse(body)) {
        clearTimeout(timer);
        for (const { id, data } of blocks) {
          if (data === undefined) {
            if (id !== undefined) yield { seq: Number(id) };
          } else if (id !== undefined) yield { seq: Number(id), event: JSON.parse(data) as AgentEvent };
          else if (progress) yield { progress: JSON.parse(data) as Progress };
        }
        timer = setTimeout(abortStalled, silence);
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw isThinkeryError(error) ? error : fail("unavailable", "The connection to the host was lost.");
    } finally {
      clearTimeout(timer);
      line.abort();
    }
  }
}

interface LogItem {
  /** Where it stands in the log, but for what is not in it. */
  seq?: number;
  event?: AgentEvent;
  progress?: Progress;
}

/** The host was reached and said no; or it is no matter of the connection at all. */
function isFinal(error: unknown): boolean {
  return !isThinkeryError(error) || toHttpStatus(error.code) < 500;
}
