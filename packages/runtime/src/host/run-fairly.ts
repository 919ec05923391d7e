import { fail } from "@thinkery/sdk";

/**
 * All objects of main share one thread here. Work that takes a while without yielding is run one at a time, with a pause
 * after each, so that whoever else is waiting gets a turn. A hint within the isolate: elsewhere objects have threads of
 * their own.
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
