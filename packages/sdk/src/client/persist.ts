import { fail, isThinkeryError } from "../protocol/errors.ts";
import { pause } from "./pause.ts";

export interface PersistOptions {
  signal?: AbortSignal;
  /** So long one try may take, in milliseconds. */
  attempt?: number;
  /** So long the host may be away. */
  patience?: number;
}

const retryDelayMs = 100;

/**
 * Asks again while the host is away: its main process may be restarting just now, which takes no second.
 * Only for what may be asked twice.
 */
export async function persist<T>(ask: (signal: AbortSignal) => Promise<T>, given: PersistOptions = {}): Promise<T> {
  const { signal, attempt = 10_000, patience = 15_000 } = given;
  const deadline = performance.now() + patience;
  for (;;) {
    try {
      return await runWithTimeout(ask, attempt, signal);
    } catch (error) {
      const passing = isThinkeryError(error) && error.code === "unavailable" && performance.now() < deadline;
      if (!passing || signal?.aborted) throw error;
      await pause(retryDelayMs, signal);
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
