import type { GenerateOptions, Context, EventData, ModelRole } from "@thinkery/sdk";
import type { ModelError } from "../model/error.ts";
import type { Model, ModelMessage, ModelPart, ModelRequest, ToolCall, ToolDefinition } from "../model/model.ts";
import type { Compaction } from "../store/facts.ts";
import type { TranscriptMessage } from "../store/message-row.ts";
import type { ConversationSize } from "../store/messages.ts";

type Awaitable<T> = T | Promise<T>;

/** How a kind of agent computes its turns. Registered with the system; agents and blueprints choose one by name. */
export interface DriverDefinition {
  name: string;
  /** Whether a turn fails before it starts if the agent's primary model cannot be opened. */
  needsModel?: boolean;
  /** Called once per agent and life of its object. */
  create(): Driver;
}

/** Computes the turns of one agent. What it keeps in memory is a cache: it may be created anew between two turns. */
export interface Driver {
  /** Runs the turn until it completes or has to wait. Safe to call again after a crash: it continues from the log. */
  run(turn: TurnContext): Promise<"completed" | "waiting">;
  /** Drops what it derived from the conversation, which was cleared. */
  reset?(): void;
}

/** The models of an agent by role, opened when they are first needed. */
export interface TurnModels {
  /** Throws if there is no such model or its key is missing. */
  open(role: ModelRole): Promise<Model>;
  /** Returns the id of a role's model without opening it. */
  getId(role: ModelRole): Promise<string>;
  /** Returns how many tokens a model reads at once. */
  getContextWindow(modelId: string): Promise<number>;
}

/** The conversation as it is stored. */
export interface Conversation {
  /** Returns the messages after this position, oldest first. */
  readAfter(position: number): Awaitable<TranscriptMessage[]>;
  readBlob(hash: string): Promise<Uint8Array | undefined>;
  /** Returns its size when it was last counted, by a model or after a compaction. */
  getLastCount(): Awaitable<ConversationSize | undefined>;
  /** Returns the last compaction, if it was ever too long. */
  getCompaction(): Awaitable<Compaction | undefined>;
}

/** What a driver may see and do of the turn it computes. Everything it does is recorded by the turn. */
export interface TurnContext {
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly models: TurnModels;
  /** The system prompt before middleware adds to it. */
  readonly system: string;
  readonly tools: { definitions(): readonly ToolDefinition[] };
  readonly conversation: Conversation;
  /** Returns the calls of the last step that have no result and are not deferred. */
  listPendingCalls(): Awaitable<ToolCall[]>;
  /** Returns whether there are calls whose results are still to be reported. */
  isWaiting(): Awaitable<boolean>;
  /** Returns whether the model has answered everything that was said. */
  isAnswered(): Awaitable<boolean>;
  /** Takes in messages that joined the turn and opens the next step. Throws if it has used up its steps or budget. */
  beginStep(options?: StepOptions): Awaitable<void>;
  /** Lets middleware shape the next request to a model; with that, the call has started. */
  planModelCall(messages: readonly ModelMessage[], modelId: string): Awaitable<ModelRequest>;
  /** Starts an answer that is not made by one of our models. */
  startModelCall(modelId: string): Awaitable<void>;
  /** Starts the same call again. */
  retryModelCall(attempt: number): Awaitable<void>;
  /** Adds to the answer of the current call. */
  say(text: string, reasoning: string): Awaitable<void>;
  completeModelCall(end: ModelCallEnd): Awaitable<void>;
  failModelCall(error: ModelError, attempt: number, retryInMs: number | undefined): Awaitable<void>;
  /** Asks a model something beside the conversation. */
  consult(question: GenerateOptions): Promise<string>;
  /** Records that the conversation was too long, and what the model is told instead. */
  recordCompaction(facts: Omit<EventData["context.compacted"], "runId" | "step">): Awaitable<void>;
  /** When this returns, every call has its result or is deferred. */
  executeCalls(calls: readonly ToolCall[]): Promise<void>;
}

export interface StepOptions {
  /** The model that will probably be called: its budget is reserved first. */
  modelId?: string;
  /** Whether it certainly will: then the start of the call is written with the step's, which saves a write. */
  startsCall?: boolean;
}

export interface ModelCallEnd {
  finish: Extract<ModelPart, { type: "finish" }>;
  toolCalls: ToolCall[];
  replay?: unknown;
  context?: Context;
}
