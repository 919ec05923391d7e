import type { Activity, GenerateOptions, Context, EventData, ModelRole } from "@thinkery/sdk";
import type { ModelError } from "../model/error.ts";
import type { Model, ModelMessage, ModelPart, ModelRequest, ToolCall, ToolDefinition } from "../model/model.ts";
import type { AgentStore } from "../store/agent-store.ts";
import type { Compaction } from "../store/facts.ts";
import type { TranscriptMessage } from "../store/message-row.ts";
import type { ConversationSize } from "../store/messages.ts";
import type { CodeScope } from "./isolate/code-scope.ts";
import type { UserCode } from "./isolate/user-code.ts";

type Awaitable<T> = T | Promise<T>;

/** How a kind of agent computes its turns. Registered with the system; agents and blueprints choose one by name. */
export interface DriverDefinition {
  name: string;
  /** Whether a turn fails before it starts if the agent's primary model cannot be opened. */
  needsModel?: boolean;
  /** Called once per agent each time its object is loaded. */
  create(host: DriverHost): Driver;
}

/** The agent that a driver is created for. */
export interface DriverHost {
  store: AgentStore;
  /** Its code, if it is made from a package. */
  code: UserCode;
}

/** Computes the turns of one agent. Its memory is only a cache: it may be recreated between two turns. */
export interface Driver {
  /** Runs the turn until it completes or has to wait. Safe to call again after a crash: it continues from the log. */
  run(turn: TurnContext): Promise<"completed" | "waiting">;
  /** Called when the conversation was cleared: drops everything derived from it. */
  reset?(): void;
}

/** An agent's models by role, opened on first use. */
export interface TurnModels {
  /** Throws if the model does not exist or its key is missing. */
  open(role: ModelRole): Promise<Model>;
  /** Opens a model by its id. */
  openById(id: string): Promise<Model>;
  /** Returns the id of a role's model without opening it. */
  getId(role: ModelRole): Promise<string>;
  /** Returns the size of a model's context window in tokens. */
  getContextWindow(modelId: string): Promise<number>;
}

/** Writes messages to the conversation, one at a time. */
export interface ReplyWriter {
  begin(messageId: string): void;
  append(text: string): void;
  /** Completes the message. Calls that it requests are returned with their ids, to be executed. */
  complete(messageId: string, toolCalls: readonly ToolCall[]): ToolCall[];
  /** Drops what was written of the open message. */
  discard(reason: string): void;
  /** Shows clients what code does; nothing is stored. */
  showActivity(activity: Activity): void;
}

/** What code can use in a turn besides tools: calls to models and capabilities. */
export interface CodeAccess extends Pick<
  CodeScope,
  "streamModel" | "callCapability" | "isIdempotent" | "noteActivity"
> {
  /** Cancels calls in progress. When it resolves, each has its result in the log. */
  close(): Promise<void>;
}

/** The stored conversation. */
export interface Conversation {
  /** Returns the messages after this position, oldest first. */
  readAfter(position: number): Awaitable<TranscriptMessage[]>;
  readBlob(hash: string): Promise<Uint8Array | undefined>;
  /** Returns its size when it was last counted, by a model or after a compaction. */
  getLastCount(): Awaitable<ConversationSize | undefined>;
  /** Returns the last compaction, if there was one. */
  getCompaction(): Awaitable<Compaction | undefined>;
}

/** What a driver can see and do in the turn it computes. The turn records everything it does. */
export interface TurnContext {
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly models: TurnModels;
  /** The system prompt before middleware adds to it. */
  readonly system: string;
  readonly tools: { definitions(): readonly ToolDefinition[] };
  readonly conversation: Conversation;
  /** Returns the calls of the last step that have no result and do not wait. */
  listPendingCalls(): Awaitable<ToolCall[]>;
  /** Returns whether there are deferred calls without a result. */
  isWaiting(): Awaitable<boolean>;
  /** Returns whether the model has responded to all messages. */
  isAnswered(): Awaitable<boolean>;
  /** Delivers messages that joined the turn and begins the next step. Throws if the steps or the budget are used up. */
  beginStep(options?: StepOptions): Awaitable<void>;
  /** Builds the next model request, which middleware can change, and starts the call. */
  planModelCall(messages: readonly ModelMessage[], modelId: string): Awaitable<ModelRequest>;
  /** Starts a call whose response does not come from one of the agent's models. */
  startModelCall(modelId: string): Awaitable<void>;
  /** Messages that no model call produces. */
  readonly replies: ReplyWriter;
  /** Sets the result of the turn; by default it is the text of the last message. */
  setResult(text: string): void;
  /** Opens what code can use in this turn besides tools. */
  openCode(): CodeAccess;
  /** Returns whether messages have joined the turn that are not delivered yet. */
  hasJoined(): boolean;
  /** Starts the same call again. */
  retryModelCall(attempt: number): Awaitable<void>;
  /** Adds to the response of the current call. */
  appendDelta(text: string, reasoning: string): Awaitable<void>;
  completeModelCall(end: ModelCallEnd): Awaitable<void>;
  failModelCall(error: ModelError, attempt: number, retryInMs: number | undefined): Awaitable<void>;
  /** Calls a model outside the conversation. */
  generate(options: GenerateOptions): Promise<string>;
  /** Records a compaction: what the model is sent in place of older messages. */
  recordCompaction(facts: Omit<EventData["context.compacted"], "runId" | "step">): Awaitable<void>;
  /** Executes tool calls. When it resolves, each has a result or waits. A call that got its answer meanwhile goes on. */
  executeCalls(calls: readonly ToolCall[]): Promise<void>;
  /** Writes what is held back to save writes, such as results of calls, so that it can be read. */
  flush(): Awaitable<void>;
}

export interface StepOptions {
  /** The model that will probably be called: budget for it is reserved first. */
  modelId?: string;
  /** Whether it will be called for certain: the step and the call are then started in one write. */
  startsCall?: boolean;
}

export interface ModelCallEnd {
  finish: Extract<ModelPart, { type: "finish" }>;
  toolCalls: ToolCall[];
  replay?: unknown;
  context?: Context;
}
