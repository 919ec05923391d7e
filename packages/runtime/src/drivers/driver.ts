import type { Consultation, Context, EventData, ModelRole } from "@thinkery/sdk";
import type { ModelError } from "../model/error.ts";
import type { Model, ModelMessage, ModelPart, ModelRequest, ToolCall, ToolDefinition } from "../model/model.ts";
import type { Compaction } from "../store/facts.ts";
import type { Spoken } from "../store/message-row.ts";
import type { Counted } from "../store/messages.ts";

/** How a turn is computed. */
export interface Driver {
  /**
   * Comes back when there is nothing more to do, or nothing until a report comes in; a turn that was cut off or has
   * waited is simply run again and goes on from its log.
   */
  run(turn: DrivenTurn): Promise<"done" | "waits">;
}

/** What a turn is computed with. */
export interface Means {
  /** The primary one. */
  readonly model: Model;
  /** The id of the model that looks at images; it may well be the primary one. */
  readonly vision: string;
  modelOf(role: ModelRole): Promise<Model>;
  /** How many tokens a model reads at once. */
  contextOf(model: string): Promise<number>;
  /** What the model is told before the conversation, whatever middleware adds to it. */
  readonly system: string;
  readonly tools: { definitions(): readonly ToolDefinition[] };
}

/** The conversation as it is stored. */
export interface Conversation {
  /** What was said after this place. */
  spoken(after: number): Spoken[];
  readBlob(hash: string): Promise<Uint8Array | undefined>;
  /** How large it was when that was last counted, by its model or after a compaction. */
  counted(): Counted | undefined;
  /** What became of it when it was too long. */
  compaction(): Compaction | undefined;
}

/** What a driver may see and do of the turn it computes. Everything it does is recorded by the turn. */
export interface DrivenTurn {
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly means: Means;
  readonly conversation: Conversation;
  /** Calls of the last step that are still to be made. */
  unanswered(): ToolCall[];
  /** Are there calls whose answers are to be reported? */
  waits(): boolean;
  /** Has the model had its last word on all that was said? */
  isAnswered(): boolean;
  /** Takes in what joined the turn meanwhile, and opens the next step. Fails the turn when it has had enough of them. */
  beginStep(): void | Promise<void>;
  /** What a model is told next, as middleware has shaped it; with that, the call has begun. */
  planCall(messages: readonly ModelMessage[], model: Model): ModelRequest | Promise<ModelRequest>;
  /** The same call once more. */
  retryCall(attempt: number): void;
  /** What the model says, as it says it. */
  say(text: string, reasoning: string): void;
  endCall(end: CallEnd): void | Promise<void>;
  /** Asks a model something beside the conversation. */
  consult(question: Consultation): Promise<string>;
  /** The conversation was too long, and this is what becomes of it. */
  compacted(facts: Omit<EventData["context.compacted"], "runId" | "step">): void;
  callFailed(error: ModelError, attempt: number, retryInMs: number | undefined): void;
  /** Through the gate; every call has a result, or is waited for, when this comes back. */
  callTools(calls: readonly ToolCall[]): Promise<void>;
}

export interface CallEnd {
  finish: Extract<ModelPart, { type: "finish" }>;
  toolCalls: ToolCall[];
  replay?: unknown;
  context: Context;
}
