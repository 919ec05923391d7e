import type { ModelError } from "./error.ts";

/** Calls in all, the first one counted. */
export const maxAttempts = 4;

const minDelayMs = 500;
const maxDelayMs = 30_000;
/** Whoever asks us to wait longer than this is not coming back within a turn. */
const maxRetryAfterMs = 60_000;

/** How long to wait after attempt number `attempt` (from 1) failed; nothing means: give up. */
export function getRetryDelayMs(error: ModelError, attempt: number, random: () => number): number | undefined {
  if (!error.passing || attempt >= maxAttempts) return undefined;
  const wish = error.retryAfterMs;
  if (wish !== undefined && wish > maxRetryAfterMs) return undefined;
  if (wish !== undefined) return Math.min(maxRetryAfterMs, wish + Math.round(random() * minDelayMs));
  // Full jitter: agents that failed together must not come back together. Few attempts, so the ceiling grows fast.
  return Math.round(random() * Math.min(maxDelayMs, minDelayMs * 4 ** (attempt - 1)));
}
