import { fail } from "@thinkery/sdk";

/**
 * Locally, all objects of main share one thread. Work that blocks it runs one piece at a time, with a pause after each,
 * so that other requests are served in between. On Cloudflare objects have their own threads.
 */
let isPausing = false;

/** Long enough for the event loop to run out of ready work and look at its sockets. */
const pauseMs = 5;
const maxWaitMs = 30_000;

/** Runs synchronous work after the pause that follows other such work. */
export async function runFairly<T>(work: () => T): Promise<T> {
  for (let waitedMs = 0; isPausing; waitedMs += pauseMs) {
    if (waitedMs >= maxWaitMs)
      throw fail("unavailable", "The host is busy with other large requests. Try again later.");
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  isPausing = true;
  try {
    return work();
  } finally {
    // Set after the work: a timer from before would be due at once.
    setTimeout(() => (isPausing = false), pauseMs);
  }
}
