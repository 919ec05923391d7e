import { setImmediate as nextTurn } from "node:timers/promises";

/** So long the process does nothing else. */
const maxSliceMs = 10;

/** For work on many files that is quickest without waiting: to be asked after each one, it lets others have their turn. */
export function createYielder(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < maxSliceMs) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}
