import type { ReasoningEffort } from "../protocol/choices.ts";
import type { SettingsSchema, SettingValues } from "../protocol/setting-values.ts";
import type { CallFetch } from "./fetch.ts";
import type { Bash, FileSystem } from "./file-system.ts";
import type { AgentEvent, AgentState, JsonValue, ModelUsage, Sender, WireTool } from "./wire.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- authors know the types of such data, TypeScript cannot
export type Data = any;

type Awaitable<T> = T | Promise<T>;

/** An agent: what happens to a message. Its host keeps queue, conversation, settings and state. */
export interface AgentDefinition<S extends SettingsSchema = SettingsSchema, State extends object = AgentState> {
  /** Handles a message. Resolves when everything is said; if it throws, the turn fails with the error. */
  onMessage(message: IncomingMessage, ctx: AgentContext<S, State>): Awaitable<void>;
  /** What people can set. They get a form for it; `ctx.settings` has the values. */
  settings?: S;
  /** The state before anything was set; gives `ctx.state` its type. */
  state?: State;
  /** Tools for the other agents of its agency, which call them as `<agent>__<tool>`. */
  tools?: Record<string, ToolProvider<S, State>>;
  /** Called once before an agent's first message, and after each new version. */
  onInit?(ctx: LifecycleContext<S, State>): Awaitable<void>;
  /** Called on this version before another one takes over, and before the agent is deleted. */
  onShutdown?(ctx: LifecycleContext<S, State>): Awaitable<void>;
  onEvent?(event: AgentEvent, ctx: LifecycleContext<S, State>): Awaitable<void>;
  /** How much of the conversation `ctx.conversation` has; by default 50 messages and 100,000 characters. */
  history?: { maxMessages?: number; maxChars?: number };
  /** Whether messages that came while it worked are delivered together, as `ctx.messages`. */
  batch?: boolean;
  /** Messages it handles at the same time, 1 by default and at most 16. */
  concurrency?: number;
}

/** Shorthand for the properties of an object, all required unless marked as optional; or a JSON schema of one. */
export type ToolParameters = Record<string, { type?: string; optional?: boolean; [keyword: string]: unknown }> | object;

export interface ToolProvider<S extends SettingsSchema = SettingsSchema, State extends object = AgentState> {
  description: string;
  parameters?: ToolParameters;
  /** The host checks the arguments against the parameters. */
  execute(args: Data, ctx: ToolContext<S, State>): unknown;
}

export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
  /** Loads its content, which is not sent along. */
  read(): Promise<Uint8Array>;
  text(): Promise<string>;
}

export interface IncomingMessage {
  readonly id: string;
  readonly content: string;
  readonly attachments: readonly Attachment[];
  readonly sender: Sender;
  readonly timestamp: string;
}

export interface ConversationMessage {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly timestamp: string;
  readonly attachments?: readonly Attachment[];
}

/** A message for a model. Those of the conversation can be passed as they are. */
export type ModelMessage =
  | { role: "user"; content: string | readonly UserPart[] }
  | { role: "assistant"; content: string; toolCalls?: ModelToolCall[]; replayId?: string }
  | { role: "tool"; callId: string; name: string; content: string; isError?: boolean };

export type UserPart = { type: "text"; text: string } | { type: "image"; attachment: string | Attachment };

export interface ModelToolCall {
  id: string;
  name: string;
  input: JsonValue;
}

/** A tool of the agent itself that only a model in the same request may call. */
export interface LocalTool extends WireTool {
  execute(args: Data): unknown;
}

export interface GenerateOptions {
  /** A role (primary, fast, summarizer, vision) or `provider:model`. Defaults to the setting `model`, else primary. */
  model?: string;
  system?: string;
  /** Instead of `messages`. */
  prompt?: string;
  /** The model's responses, its tool calls and their results are added to it. */
  messages?: ModelMessage[];
  /** Tools it may call: those of `ctx.tools`, or own ones with `execute`. */
  tools?: readonly (WireTool | LocalTool)[];
  /** How often the model is called again with the results of its calls. `stream`: 1 by default; `generate`: 5. */
  maxSteps?: number;
  temperature?: number;
  maxOutputTokens?: number;
  thinking?: { budgetTokens: number };
  reasoningEffort?: ReasoningEffort;
  signal?: AbortSignal;
}

export type StreamEvent =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool-call"; id: string; tool: string; args: JsonValue }
  | { type: "tool-result"; id: string; tool: string; result: unknown; isError: boolean }
  | { type: "finish"; reason: string; usage?: ModelUsage };

export interface Ai {
  /** Streams what a model says. Executes the tools it calls, and waits if one of them needs approval. */
  stream(options: GenerateOptions): AsyncGenerator<StreamEvent, void, undefined>;
  /** Returns the text of the model's last response. */
  generate(options: GenerateOptions | string): Promise<string>;
}

/** A reply while it is written. Methods throw at once if it has ended; awaiting them waits until they took effect. */
export interface ReplyStream {
  /** Adds text to the message, which the first one creates. */
  write(text: string): Promise<void>;
  /** Shows what the agent thinks, for as long as it works. */
  thinking(text: string): Promise<void>;
  /** Shows what the agent does, until `actionComplete`. */
  action(tool: string, args?: unknown): Promise<void>;
  actionComplete(): Promise<void>;
  /** Completes the message. Replies that are still open when the handler ends are completed then. */
  end(): Promise<void>;
}

/** The tools an agent may call, as a list, with a method to call them. */
export interface ToolList extends ReadonlyArray<WireTool> {
  /** Returns what a tool returned. Throws its error; also if a person denied the call. */
  execute(name: string, args?: unknown): Promise<Data>;
}

/** Values that are too large for the state, or rarely needed. Saved with the state, when the handler ends. */
export interface AgentStorage {
  get<T = Data>(key: string): Promise<T | undefined>;
  set(key: string, value: unknown): Promise<void>;
  /** Returns whether there was one. */
  delete(key: string): Promise<boolean>;
  list(options?: { prefix?: string; after?: string; limit?: number }): Promise<{
    entries: { key: string; chars: number }[];
    /** Pass it as `after` to read on. */
    next?: string;
  }>;
}

/** The agent's own conversation, message by message. */
export interface Channel {
  /** Starts a message, which stays open until `complete` or the end of the handler. */
  send(content: string): Promise<{ id: string }>;
  /** Sets the text of an open message, which must begin with the text it has. */
  update(id: string, text: string): Promise<void>;
  complete(id: string): Promise<void>;
  callTool(name: string, args?: unknown): Promise<Data>;
}

export interface Log {
  info(...args: unknown[]): void;
  warn(...args: unknown[]): void;
  error(...args: unknown[]): void;
}

/** What every handler gets. Members of a capability that was not granted throw, and say how to ask for it. */
export interface LifecycleContext<S extends SettingsSchema = SettingsSchema, State extends object = AgentState> {
  /** The agent's address. */
  readonly agent: string;
  readonly settings: SettingValues<S>;
  /** The state with all changes so far. */
  readonly state: Readonly<State>;
  /** Changes keys of the state; undefined removes one, or sets it to its initial value. Saved when the handler ends, unless it throws. */
  setState(changes: { [K in keyof State]?: State[K] | undefined }): void;
  readonly storage: AgentStorage;
  readonly tools: ToolList;
  readonly ai: Ai;
  readonly fs: FileSystem;
  readonly bash: Bash;
  readonly fetch: CallFetch;
  readonly signal: AbortSignal;
  readonly log: Log;
}

export interface ToolContext<
  S extends SettingsSchema = SettingsSchema,
  State extends object = AgentState,
> extends LifecycleContext<S, State> {
  /** The address of the agent that called the tool. */
  readonly caller: string;
}

export interface AgentContext<
  S extends SettingsSchema = SettingsSchema,
  State extends object = AgentState,
> extends LifecycleContext<S, State> {
  readonly message: IncomingMessage;
  /** All messages that are handled at once; more than one only with `batch`. */
  readonly messages: readonly IncomingMessage[];
  /** What was said before, oldest first, without the current message. */
  readonly conversation: readonly ConversationMessage[];
  readonly history: {
    /** Whether there are messages before those of `conversation`. */
    readonly hasEarlier: boolean;
    /** Returns messages before the one with this id, or before those of `conversation`; oldest first. */
    read(options?: { before?: string; limit?: number }): Promise<ConversationMessage[]>;
  };
  /** Begins a reply. */
  reply(): ReplyStream;
  /** Says something at once. */
  send(content: string): Promise<void>;
  readonly channel: Channel;
}
