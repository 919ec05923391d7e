import type { ModelError } from "./error.ts";

/** Calls in all, the first one counted. */
export const mostAttempts = 4;

const shortest = 500;
const longest = 30_000;
/** Whoever asks us to wait longer than this is not coming back within a turn. */
const longestWish = 60_000;

/** How long to wait after attempt number `attempt` (from 1) failed; nothing means: give up. */
export function retryDelay(error: ModelError, attempt: number, random: () => number): number | undefined {
  if (!error.passing || attempt >= mostAttempts) return undefined;
  const wish = error.retryAfterMs;
  if (wish !== undefined && wish > longestWish) return undefined;
  if (wish !== undefined) return Math.min(longestWish, wish + Math.round(random() * shortest));
  // Full jitter: agents that failed together must not come back together. Few attempts, so the ceiling grows fast.
  return Math.round(random() * Math.min(longest, shortest * 4 ** (attempt - 1)));
}
