import type { ToolCall } from "../../model/model.ts";

/** A model that makes the same call in this many consecutive steps, with the same result, is stuck. */
export const maxIdenticalCalls = 3;

/**
 * Detects a model that repeats itself. A call whose results differ is polling and may be repeated. Kept in memory only: a
 * crash restarts the count, and the number of steps is bounded anyway.
 */
export class RepetitionGuard {
  #signature = "";
  #callId = "";
  #step = 0;
  #count = 0;
  #result: string | undefined;

  /** Counts a call; returns whether it is one too many. */
  isStuck(call: ToolCall, toolName: string, step: number): boolean {
    const signature = `${toolName} ${call.malformed ?? JSON.stringify(call.input)}`;
    if (signature !== this.#signature) {
      this.#count = 1;
      this.#result = undefined;
    } else if (step !== this.#step) this.#count += 1;
    this.#signature = signature;
    this.#callId = call.id;
    this.#step = step;
    return this.#count >= maxIdenticalCalls;
  }

  /** Restarts the count if the call's result differs from the one before. */
  noteResult(callId: string, result: string): void {
    if (callId !== this.#callId) return;
    if (this.#result !== undefined && this.#result !== result) this.#count = 1;
    this.#result = result;
  }
}
