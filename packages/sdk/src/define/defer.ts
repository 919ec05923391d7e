/** Returned by a tool whose result arrives later. Create it with `defer()`. */
export class Deferred {
  /** Makes the type nominal, so that no other object is mistaken for one. */
  readonly isDeferred = true;
}

const deferred = Object.freeze(new Deferred());

/**
 * Defers the result of a tool call. The turn waits, for as long as it takes and across restarts, until the result is
 * posted to `/agency/:agency/agent/:agent/tool-results` or passed to the client's `resolveToolCall`.
 *
 * ```ts
 * const approve = defineTool({ name: "requestApproval", description: "…", inputSchema }, async (input, { callId }) => {
 *   await notifyReviewer(input, callId);
 *   return defer();
 * });
 * ```
 */
export function defer(): Deferred {
  return deferred;
}
