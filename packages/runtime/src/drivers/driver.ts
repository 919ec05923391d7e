import type { ModelError } from "../model/error.ts";
import type { Model, ModelMessage, ModelPart, ModelRequest, ToolCall } from "../model/model.ts";
import type { Spoken } from "../store/message-row.ts";

/** How a turn is computed. */
export interface Driver {
  /**
   * Comes back when there is nothing more to do, or nothing until a report comes in; a turn that was cut off or has
   * waited is simply run again and goes on from its log.
   */
  run(turn: DrivenTurn): Promise<"done" | "waits">;
}

/** What a driver may see and do of the turn it computes. Everything it does is recorded by the turn. */
export interface DrivenTurn {
  readonly signal: AbortSignal;
  readonly model: Model;
  /** What was said after this place in the conversation. */
  spoken(after: number): Spoken[];
  readBlob(hash: string): Promise<Uint8Array | undefined>;
  /** Calls of the last step that are still to be made. */
  unanswered(): ToolCall[];
  /** Are there calls whose answers are to be reported? */
  waits(): boolean;
  /** Has the model had its last word on all that was said? */
  isAnswered(): boolean;
  /** Takes in what joined the turn meanwhile, and opens the next step. Fails the turn when it has had enough of them. */
  beginStep(): void | Promise<void>;
  /** What the model is told next, as middleware has shaped it; with that, the call has begun. */
  planCall(messages: readonly ModelMessage[]): ModelRequest | Promise<ModelRequest>;
  /** The same call once more. */
  retryCall(attempt: number): void;
  /** What the model says, as it says it. */
  say(text: string, reasoning: string): void;
  endCall(end: CallEnd): void | Promise<void>;
  callFailed(error: ModelError, attempt: number, retryInMs: number | undefined): void;
  /** Through the gate; every call has a result, or is waited for, when this comes back. */
  callTools(calls: readonly ToolCall[]): Promise<void>;
}

export interface CallEnd {
  finish: Extract<ModelPart, { type: "finish" }>;
  toolCalls: ToolCall[];
  replay?: unknown;
}
