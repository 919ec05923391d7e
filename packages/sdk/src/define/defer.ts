/** What a tool returns whose result comes later. */
export class Deferred {
  /** Present so that no other object passes for one. */
  readonly isDeferred = true;
}

const deferred = Object.freeze(new Deferred());

/**
 * Defers the result of a tool call: `return defer()`. The turn waits until somebody posts the result to
 * `A/tool-results`, for as long as that takes, and survives restarts meanwhile.
 */
export function defer(): Deferred {
  return deferred;
}
