import { fail, isThinkeryError } from "../protocol/errors.ts";
import { sleep } from "./sleep.ts";

export interface RetryOptions {
  signal?: AbortSignal;
  /** Timeout of one attempt. */
  attemptTimeoutMs?: number;
  /** How long to retry while the host is unavailable. */
  retryTimeoutMs?: number;
}

const retryDelayMs = 100;

/**
 * Retries a request while the host is unavailable: its main process may be restarting, which takes less than a second.
 * Use it for idempotent requests only.
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
      const canRetry = isThinkeryError(error) && error.code === "unavailable" && performance.now() < deadline;
      if (!canRetry || signal?.aborted) throw error;
      await sleep(retryDelayMs, signal);
    }
  }
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
