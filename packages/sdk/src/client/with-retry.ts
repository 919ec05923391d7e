import { fail, isThinkeryError } from "../protocol/errors.ts";
import { sleep } from "./sleep.ts";

export interface RetryOptions {
  signal?: AbortSignal;
  /** So long one try may take, in milliseconds. */
  attemptTimeoutMs?: number;
  /** So long the host may be away. */
  retryTimeoutMs?: number;
}

const retryDelayMs = 100;

/**
 * Asks again while the host is away: its main process may be restarting just now, which takes no second.
 * Only for what may be asked twice.
 */
export async function withRetry<T>(ask: (signal: AbortSignal) => Promise<T>, given: RetryOptions = {}): Promise<T> {
  const { signal, attemptTimeoutMs: attempt = 10_000, retryTimeoutMs = 15_000 } = given;
  const deadline = performance.now() + retryTimeoutMs;
  for (;;) {
    try {
      return await runWithTimeout(ask, attempt, signal);
    } catch (error) {
      const passing = isThinkeryError(error) && error.code === "unavailable" && performance.now() < deadline;
      if (!passing || signal?.aborted) throw error;
      await sleep(retryDelayMs, signal);
    }
  }
}

// Node's fetch may never come back when its server is killed just as it connects.
async function runWithTimeout<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  limit: number,
  given: AbortSignal | undefined,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(fail("unavailable", "The host does not answer.")), limit);
  try {
    return await ask(given ? AbortSignal.any([given, late.signal]) : late.signal);
  } finally {
    clearTimeout(timer);
  }
}
