import * as Y from "yjs";

/** Items by their right neighbour, while steps are counted. */
const neighbours = new WeakMap<object, Y.Item | null>();

/**
 * Runs work that can count how often code moves from an item to its right neighbour. Only items created within the work
 * are counted.
 */
export function withStepCounter<T>(work: (countSteps: (run: () => void) => number) => T): T {
  let steps = 0;
  const prototype = Y.Item.prototype as object;
  Object.defineProperty(prototype, "right", {
    configurable: true,
    get(this: object) {
      steps += 1;
      return neighbours.get(this) ?? null;
    },
    set(this: object, right: Y.Item | null) {
      neighbours.set(this, right);
    },
  });
  try {
    return work((run) => {
      const before = steps;
      run();
      return steps - before;
    });
  } finally {
    delete (prototype as { right?: unknown }).right;
  }
}
