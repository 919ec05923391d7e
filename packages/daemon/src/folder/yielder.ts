import { setImmediate as waitForTick } from "node:timers/promises";

/** How long the process may work without yielding. */
const maxSliceMs = 10;

/**
 * Returns a function to call after each of many small pieces of synchronous work; it yields to the event loop when due.
 */
export function createYielder(): () => Promise<void> | undefined {
  let sliceStart = performance.now();
  return () => {
    if (performance.now() - sliceStart < maxSliceMs) return undefined;
    return waitForTick().then(() => {
      sliceStart = performance.now();
    });
  };
}
