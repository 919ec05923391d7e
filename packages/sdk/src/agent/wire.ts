import type { LogLevel, ReasoningEffort } from "../protocol/choices.ts";
import type { SettingsSchema, SettingValue } from "../protocol/setting-values.ts";

// What passes between an agent's code, in a sandbox, and its host. Both sides treat the other's data as untrusted.

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** The host as an agent's code reaches it: the binding `HOST`, for one request. */
export interface AgentHost {
  /** Input and output are JSON; an empty output is undefined. */
  call(capability: string, input: string): Promise<string>;
}

/** The paths of requests to an agent's code. Everything else is 404. */
export const agentRoutes = ["message", "tool", "init", "shutdown", "event", "describe"] as const;

export type AgentRoute = (typeof agentRoutes)[number];

export type AgentState = Record<string, JsonValue>;

export interface StateChanges {
  set: AgentState;
  deleted: string[];
}

export interface WireAttachment {
  /** The hash of its content. */
  id: string;
  name?: string;
  mediaType: string;
  /** In bytes. */
  size: number;
}

export interface Sender {
  id: string;
  name: string;
  type: "user" | "agent" | "host";
}

export interface WireMessage {
  id: string;
  content: string;
  attachments: WireAttachment[];
  sender: Sender;
  /** ISO date. */
  timestamp: string;
}

export interface WireConversationMessage {
  id: string;
  role: "user" | "assistant";
  content: string;
  timestamp: string;
  attachments?: WireAttachment[];
}

export interface WireToolCall {
  id: string;
  name: string;
  input: JsonValue;
}

export type WireUserPart = { type: "text"; text: string } | { type: "image"; attachment: string };

export type WireModelMessage =
  | { role: "user"; content: string | WireUserPart[] }
  | { role: "assistant"; content: string; toolCalls?: WireToolCall[]; replayId?: string }
  | { role: "tool"; callId: string; name: string; content: string; isError?: boolean };

export interface WireTool {
  name: string;
  description: string;
  /** JSON Schema of the input. */
  parameters: Record<string, unknown>;
}

export interface WireModelRequest {
  /** A role or `provider:model`. */
  model?: string;
  system?: string;
  messages: WireModelMessage[];
  tools?: WireTool[];
  temperature?: number;
  maxOutputTokens?: number;
  thinkingBudget?: number;
  reasoningEffort?: ReasoningEffort;
}

export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
}

export type WireModelPart =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | ({ type: "tool-call" } & WireToolCall)
  | { type: "finish"; reason: string; usage?: ModelUsage; replayId?: string };

interface BasePayload {
  /** The agent's address. */
  agent: string;
  settings: Record<string, SettingValue>;
  state: AgentState;
  tools: WireTool[];
  /** What the manifest asked for and the deploy granted. */
  capabilities: string[];
}

export interface MessagePayload extends BasePayload {
  message: WireMessage;
  /** All messages that are delivered together; more than one only if the agent batches. */
  messages: WireMessage[];
  conversation: WireConversationMessage[];
  /** Whether there are older messages than those in `conversation`. */
  hasEarlier: boolean;
}

export interface ToolPayload extends BasePayload {
  tool: string;
  input: JsonValue;
  /** The address of the agent that called it. */
  caller: string;
}

export type AgentEvent =
  | { type: "settings.changed"; previous: Record<string, SettingValue> }
  | { type: "turn.ended"; outcome: "completed" | "failed" | "canceled"; error?: string }
  | { type: "conversation.cleared" };

export interface EventPayload extends BasePayload {
  event: AgentEvent;
}

export type LifecyclePayload = BasePayload;

export interface HandlerResult {
  state: StateChanges;
}

export interface ToolHandlerResult extends HandlerResult {
  /** Undefined if the tool returned nothing. */
  output?: JsonValue;
}

/** The body of a response with status 500. */
export interface HandlerError {
  error: { name: string; message: string; stack?: string };
}

/** What an agent's code says about itself, at its deploy. */
export interface AgentDescription {
  settings?: SettingsSchema;
  tools: WireTool[];
  handles: { init: boolean; shutdown: boolean; event: boolean };
  history: { maxMessages?: number; maxChars?: number };
  /** Whether messages that came while it worked are delivered together. */
  batch: boolean;
  /** Messages it handles at the same time. */
  concurrency: number;
  /** The state before anything was set. */
  initialState: AgentState;
}

/** One step of a reply. Replies are numbered in the order in which a request began them. */
export type ReplyOperation =
  | { reply: number; type: "write"; text: string }
  | { reply: number; type: "thinking"; text: string }
  | { reply: number; type: "action"; tool: string; args: JsonValue }
  | { reply: number; type: "actionComplete" }
  | { reply: number; type: "end" };

export interface WireToolResult {
  /** The result as text, as a model is sent it. */
  content: string;
  /** The result as data, if it is JSON. */
  output?: JsonValue;
  isError: boolean;
}

export interface FileContent {
  text?: string;
  base64?: string;
}

/** The calls of a host by name: their input, and their output. */
export interface HostCalls {
  reply: { input: { operations: ReplyOperation[] }; output: void };
  "model.open": { input: WireModelRequest; output: { id: string } };
  "model.read": { input: { id: string }; output: { parts: WireModelPart[] } };
  "model.close": { input: { id: string }; output: void };
  /** Calls with the id that a model gave them belong to its response. */
  "tools.execute": {
    input: { calls: { id?: string; name: string; input: JsonValue }[] };
    output: { results: WireToolResult[] };
  };
  "history.read": {
    input: { before?: string; limit?: number };
    output: { messages: WireConversationMessage[]; hasEarlier: boolean };
  };
  "attachment.read": { input: { id: string }; output: { base64: string } };
  "storage.get": { input: { key: string }; output: { value?: JsonValue } };
  "storage.set": { input: { key: string; value: JsonValue }; output: void };
  "storage.delete": { input: { key: string }; output: { existed: boolean } };
  "storage.list": {
    input: { prefix?: string; after?: string; limit?: number };
    output: { entries: { key: string; chars: number }[]; next?: string };
  };
  "channel.send": { input: { content: string }; output: { id: string } };
  "channel.update": { input: { id: string; text: string }; output: void };
  "channel.complete": { input: { id: string }; output: void };
  "channel.callTool": { input: { name: string; input: JsonValue }; output: WireToolResult };
  log: { input: { level: LogLevel; text: string }; output: void };
}

export type HostCallName = keyof HostCalls;
