import type { NewEvent } from "@thinkery/sdk";

/**
 * Events that a call's result brings about. They are recorded together with it: a crash, or an error before it is
 * stored, leaves neither.
 */
export class ResultEvents {
  readonly #byCall = new Map<string, (() => NewEvent[])[]>();

  /** The events are created right before the result is recorded. */
  add(callId: string, create: () => NewEvent[]): void {
    this.#byCall.set(callId, [...(this.#byCall.get(callId) ?? []), create]);
  }

  take(callId: string): NewEvent[] {
    const creators = this.#byCall.get(callId) ?? [];
    this.#byCall.delete(callId);
    return creators.flatMap((create) => create());
  }
}
