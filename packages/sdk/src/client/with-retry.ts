import { fail, isThinkeryError } from "../protocol/errors.ts";
import { sleep } from "./sleep.ts";

export interface RetryOptions {
  signal?: AbortSignal;
  /** Timeout of one attempt. */
  attemptTimeoutMs?: number;
  /** How long to retry. */
  retryTimeoutMs?: number;
}

const retryDelayMs = 100;

/**
 * Retries a request while the host is unavailable, because its main process may be restarting, which takes less than a
 * second, and after the time it says if the client was too fast. Use it for idempotent requests only.
 */
export async function withRetry<T>(
  request: (signal: AbortSignal) => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const { signal, attemptTimeoutMs = 10_000, retryTimeoutMs = 15_000 } = options;
  const deadline = performance.now() + retryTimeoutMs;
  for (;;) {
    try {
      return await runWithTimeout(request, attemptTimeoutMs, signal);
    } catch (error) {
      const delayMs = getRetryDelay(error);
      if (delayMs === undefined || performance.now() + delayMs > deadline || signal?.aborted) throw error;
      await sleep(delayMs, signal);
    }
  }
}

function getRetryDelay(error: unknown): number | undefined {
  if (!isThinkeryError(error)) return undefined;
  if (error.code === "rate_limited") return (error.details?.retryAfter ?? 1) * 1000;
  return error.code === "unavailable" ? retryDelayMs : undefined;
}

// Node's fetch may never settle if the server is killed just as it connects.
async function runWithTimeout<T>(
  request: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(createTimeoutError(timeoutMs)), timeoutMs);
  try {
    return await request(signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal);
  } finally {
    clearTimeout(timer);
  }
}

function createTimeoutError(timeoutMs: number): Error {
  return fail("unavailable", `The host did not respond within ${timeoutMs / 1000} s.`);
}
