import { fail } from "@thinkery/sdk";

const maxFailures = 60;
const windowMs = 60_000;
const maxEntries = 10_000;

/** The start of a minute and its failures, the oldest first. */
const failureCounts = new Map<string, { since: number; failures: number }>();

/**
 * Throws if there were too many failures with this key within a minute. What it stands for need not exist, so that being
 * refused tells nothing about it.
 */
export function checkFailures(key: string): void {
  const count = failureCounts.get(key);
  const retryAfterMs = count && count.failures >= maxFailures ? count.since + windowMs - Date.now() : 0;
  if (retryAfterMs <= 0) return;
  const retryAfter = Math.ceil(retryAfterMs / 1000);
  throw fail("rate_limited", `Too many failed requests. Try again in ${retryAfter} s.`, { retryAfter });
}

export function noteFailure(key: string): void {
  const now = Date.now();
  const count = failureCounts.get(key);
  if (count && count.since + windowMs > now) {
    count.failures++;
    return;
  }
  failureCounts.delete(key);
  failureCounts.set(key, { since: now, failures: 1 });
  const [oldest] = failureCounts.keys();
  if (failureCounts.size > maxEntries && oldest !== undefined) failureCounts.delete(oldest);
}
