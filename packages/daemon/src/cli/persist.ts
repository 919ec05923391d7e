import { setTimeout as sleep } from "node:timers/promises";
import { fail, isThinkeryError } from "@thinkery/sdk";

const retryDelay = 100;
const attemptMs = 10_000;
const patienceMs = 15_000;

/**
 * Asks again while the host is away: its main process may be restarting just now, which takes no second.
 * Only for what may be asked twice.
 */
export async function persist<T>(ask: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await attempt(ask, signal);
    } catch (error) {
      const passing = isThinkeryError(error) && error.code === "unavailable" && performance.now() < deadline;
      if (!passing || signal?.aborted) throw error;
      await sleep(retryDelay, undefined, { signal });
    }
  }
}

// Node's fetch may never come back when its server is killed just as it connects.
async function attempt<T>(ask: (signal: AbortSignal) => Promise<T>, given?: AbortSignal): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(fail("unavailable", "The host does not answer.")), attemptMs);
  try {
    return await ask(given ? AbortSignal.any([given, late.signal]) : late.signal);
  } finally {
    clearTimeout(timer);
  }
}
