/** What a call waits for. `state` comes back with the answer, also after a restart. */
export type WaitOptions = { state?: unknown } & (
  | {
      kind: "input";
      prompt: string;
      /** The JSON schema of the answer. Without it, the answer is text. */
      schema?: Record<string, unknown>;
    }
  | { kind: "webhook"; hook: string; timeoutSeconds?: number }
  | { kind: "timer"; until: Date }
);

/** What a call that waited gets when its turn goes on. */
export interface WaitAnswer {
  /** The answer or what the webhook sent; undefined if the time has come. */
  value?: unknown;
  /** Who answered. */
  by?: string;
  /** What the tool passed to `defer`. */
  state?: unknown;
}

/** Returned by a tool whose result arrives later. Create it with `defer()`. */
export class Deferred {
  /** Makes the type nominal, so that no other object is mistaken for one. */
  readonly isDeferred = true;
  readonly wait: WaitOptions | undefined;

  constructor(wait?: WaitOptions) {
    this.wait = wait;
  }
}

/**
 * Defers the result of a tool call. The turn waits, for as long as it takes and across restarts, until the result is
 * posted to `/agency/:agency/agent/:agent/tool-results` or passed to the client's `resolveToolCall`.
 *
 * ```ts
 * const review = defineTool({ name: "requestReview", description: "…", inputSchema }, async (input, { callId }) => {
 *   await notifyReviewer(input, callId);
 *   return defer();
 * });
 * ```
 *
 * With options, the host knows what the call waits for: an answer of the user, a webhook or a time. The tool's `resume`
 * turns the answer into the result; without it, the answer is the result.
 *
 * ```ts
 * return defer({ kind: "input", prompt: "Which region?", schema: { enum: ["eu", "us"] } });
 * ```
 */
export function defer(wait?: WaitOptions): Deferred {
  return Object.freeze(new Deferred(wait));
}
