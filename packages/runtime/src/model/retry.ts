import type { ModelError } from "./error.ts";

/** Including the first call. */
export const maxAttempts = 4;

const minDelayMs = 500;
const maxDelayMs = 30_000;
/** A provider that asks for a longer delay will not recover within a turn. */
const maxRetryAfterMs = 60_000;

/** Returns the delay after failed attempt number `attempt` (from 1), or undefined to give up. */
export function getRetryDelayMs(error: ModelError, attempt: number, random: () => number): number | undefined {
  if (!error.retryable || attempt >= maxAttempts) return undefined;
  const { retryAfterMs } = error;
  if (retryAfterMs !== undefined && retryAfterMs > maxRetryAfterMs) return undefined;
  if (retryAfterMs !== undefined) return Math.min(maxRetryAfterMs, retryAfterMs + Math.round(random() * minDelayMs));
  // Full jitter, so that agents that failed together do not retry together. Few attempts, so the cap grows fast.
  return Math.round(random() * Math.min(maxDelayMs, minDelayMs * 4 ** (attempt - 1)));
}
