import { fail } from "../protocol/errors.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { ChatFrame, SubagentFrame } from "../protocol/frame.ts";
import type { AgentTarget } from "../protocol/target.ts";
import { Backoff } from "./backoff.ts";
import { isFinalError, readEventStream } from "./event-stream.ts";
import type { EndpointFetch } from "./request.ts";
import { sleep } from "./sleep.ts";

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
        if (signal?.aborted || isFinalError(error)) throw error;
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
    const { fetchEndpoint, target, stallTimeoutMs } = this.#options;
    const chunks = readEventStream({
      fetchEndpoint,
      endpoint: "listEvents",
      params: { agency: target.agency, agent: target.agent },
      query: { ...(after === undefined ? {} : { after }), ...(progress ? { progress: "1" as const } : {}) },
      signal,
      stallTimeoutMs,
    });
    for await (const blocks of chunks) {
      for (const { id, data } of blocks) {
        if (data === undefined) {
          if (id !== undefined) yield { seq: Number(id) };
        } else if (id !== undefined) yield { seq: Number(id), event: JSON.parse(data) as AgentEvent };
        else if (progress) yield { progress: JSON.parse(data) as Progress };
      }
    }
  }
}

interface LogItem {
  /** The position in the log. Progress has none. */
  seq?: number;
  event?: AgentEvent;
  progress?: Progress;
}
