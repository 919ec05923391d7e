import { fail, isThinkeryError, toHttpStatus } from "../protocol/errors.ts";
import type { EndpointFetch } from "./request.ts";
import { parseSse, type SseBlock } from "./sse.ts";

/** The host sends something at least every 15 s. A connection that is silent for longer than this is dead. */
const defaultStallTimeoutMs = 45_000;
/** A host that is killed just as we connect may never answer. */
const connectTimeoutMs = 10_000;

interface EventStreamOptions {
  fetchEndpoint: EndpointFetch;
  endpoint: Parameters<EndpointFetch>[0];
  params: Record<string, string>;
  query?: Record<string, unknown>;
  signal?: AbortSignal | undefined;
  /** Maximum silence before the connection counts as lost. */
  stallTimeoutMs?: number | undefined;
}

/**
 * Reads one connection to an endpoint that streams events, until it ends. Yields the blocks of each chunk: at first none,
 * once the host has accepted the request. Throws a `ThinkeryError` if it is refused or lost.
 */
export async function* readEventStream(options: EventStreamOptions): AsyncGenerator<SseBlock[]> {
  const { fetchEndpoint, endpoint, params, query = {}, signal, stallTimeoutMs = defaultStallTimeoutMs } = options;
  const connection = new AbortController();
  const anySignal = signal ? AbortSignal.any([signal, connection.signal]) : connection.signal;
  const abortStalled = () => connection.abort(fail("unavailable", "The connection to the host stalled."));
  let timer = setTimeout(abortStalled, Math.min(stallTimeoutMs, connectTimeoutMs));
  try {
    const { body } = await fetchEndpoint(endpoint, { params, query, signal: anySignal }, "text/event-stream");
    if (!body) return;
    const chunks = parseSse(body);
    // Read at once: Node cancels a body that nobody reads when it collects the response as garbage.
    let next = chunks.next();
    next.catch(() => {});
    for (let blocks: SseBlock[] = []; ;) {
      clearTimeout(timer);
      yield blocks;
      timer = setTimeout(abortStalled, stallTimeoutMs);
      const { done, value } = await next;
      if (done) return;
      blocks = value;
      next = chunks.next();
      next.catch(() => {});
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw isThinkeryError(error) ? error : fail("unavailable", "The connection to the host was lost.");
  } finally {
    clearTimeout(timer);
    connection.abort();
  }
}

/** Whether the host refused the request, or the error has nothing to do with the connection. */
export function isFinalError(error: unknown): boolean {
  return !isThinkeryError(error) || (toHttpStatus(error.code) < 500 && error.code !== "rate_limited");
}
