import { fail, isThinkeryError, toHttpStatus } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { ChatFrame, SubagentFrame } from "../protocol/frame.ts";
import type { AgentTarget } from "../protocol/target.ts";
import { Backoff } from "./backoff.ts";
import type { EndpointFetch } from "./request.ts";
import { sleep } from "./sleep.ts";
import { parseSse } from "./sse.ts";

/** The host sends something at least every 15 s. A connection that is silent for longer than this is dead. */
const defaultStallTimeoutMs = 45_000;
/** A host that is killed just as we connect may never answer. */
const connectTimeoutMs = 10_000;

export interface EventLogOptions {
  fetchEndpoint: EndpointFetch;
  target: AgentTarget;
  /** How long to retry while the host is unavailable. */
  retryTimeoutMs: number;
  /** Maximum silence before the connection is replaced. */
  stallTimeoutMs?: number;
}

/** Progress of a running tool call or of a sub-agent that streams. It is sent once, to current listeners only. */
export type Progress = Extract<ChatFrame, { type: "tool_progress" }> | SubagentFrame;

interface ListenOptions {
  signal?: AbortSignal | undefined;
  /** Whether to receive the progress of tool calls, too. */
  progress?: boolean;
}

/** Reads the event log of an agent and follows it as it grows. */
export class EventLogReader {
  readonly #options: EventLogOptions;

  constructor(options: EventLogOptions) {
    this.#options = options;
  }

  /** Returns the number of the last event so far. */
  async readEnd(signal: AbortSignal): Promise<number> {
    for await (const { seq } of this.#listen(undefined, { signal })) if (seq !== undefined) return seq;
    throw fail("unavailable", "The host closed the connection before it sent the position of the log.");
  }

  /**
   * Yields every event after a number (or from now on), once and in order, reconnecting as needed. Throws if the host
   * refuses the request or is unavailable for too long.
   */
  async *follow(after: number | undefined, signal?: AbortSignal): AsyncGenerator<AgentEvent> {
    for await (const item of this.followWithProgress(after, { signal })) if ("seq" in item) yield item;
  }

  /** Like `follow`, optionally with the progress of tool calls in between. */
  async *followWithProgress(after: number | undefined, options: ListenOptions): AsyncGenerator<AgentEvent | Progress> {
    const { signal } = options;
    const backoff = new Backoff();
    let position = after;
    let unavailableSince: number | undefined;
    for (;;) {
      let lastError: unknown;
      try {
        for await (const { seq, event, progress } of this.#listen(position, options)) {
          unavailableSince = undefined;
          if (progress) yield progress;
          if (seq === undefined) continue;
          if (!event) {
            position ??= seq;
            continue;
          }
          // Not on connect: a host that accepts connections only to close them should also be retried less and less
          // often.
          backoff.reset();
          if (position !== undefined && seq <= position) continue;
          position = seq;
          yield event;
        }
      } catch (error) {
        if (signal?.aborted || isFinal(error)) throw error;
        lastError = error;
      }
      unavailableSince ??= performance.now();
      if (performance.now() - unavailableSince > this.#options.retryTimeoutMs)
        throw lastError ?? fail("unavailable", "The host closes every connection.");
      await sleep(backoff.next(), signal);
    }
  }

  /** Reads from one connection until it ends. The first item is the position at which it starts. */
  async *#listen(after: number | undefined, { signal, progress }: ListenOptions): AsyncGenerator<LogItem> {
    const { fetchEndpoint, target, stallTimeoutMs = defaultStallTimeoutMs } = this.#options;
    const connection = new AbortController();
    const anySignal = signal ? AbortSignal.any([signal, connection.signal]) : connection.signal;
    const abortStalled = () => connection.abort(fail("unavailable", "The connection to the host stalled."));
    let timer = setTimeout(abortStalled, Math.min(stallTimeoutMs, connectTimeoutMs));
    try {
      const query = { ...(after === undefined ? {} : { after }), ...(progress ? { progress: "1" as const } : {}) };
      const { agency, agent } = target;
      const { body } = await fetchEndpoint(
        "listEvents",
        { params: { agency, agent }, query, signal: anySignal },
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
        timer = setTimeout(abortStalled, stallTimeoutMs);
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw isThinkeryError(error) ? error : fail("unavailable", "The connection to the host was lost.");
    } finally {
      clearTimeout(timer);
      connection.abort();
    }
  }
}

interface LogItem {
  /** The position in the log. Progress has none. */
  seq?: number;
  event?: AgentEvent;
  progress?: Progress;
}

/** Whether the host refused the request, or the error has nothing to do with the connection. */
function isFinal(error: unknown): boolean {
  return !isThinkeryError(error) || (toHttpStatus(error.code) < 500 && error.code !== "rate_limited");
}
