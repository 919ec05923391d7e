import type { ReasoningEffort } from "@thinkery/sdk";
import type { WireToolResult } from "@thinkery/sdk/agent-host";
import type { ModelMessage, ModelPart, ModelSettings, ToolDefinition } from "../../model/model.ts";

/** A model call that code makes. */
export interface CodeModelRequest {
  /** A role or `provider:model`. */
  model: string;
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ToolDefinition[];
  settings: ModelSettings & { reasoningEffort?: ReasoningEffort };
}

export interface CodeToolCall {
  id?: string | undefined;
  name: string;
  input: unknown;
}

/** What code can use of its agent while one request lasts: in a turn, or between turns. */
export interface CodeScope {
  readonly signal: AbortSignal;
  /** The tools that the agent's models are offered. */
  listTools(): readonly ToolDefinition[];
  /** Calls a model. The call is counted, and refused if a budget leaves no room. */
  streamModel(request: CodeModelRequest, signal: AbortSignal): AsyncIterable<ModelPart[]>;
  /** Makes a call to a capability, with JSON. Calls that need a person's approval are refused. */
  callCapability(name: string, json: string): Promise<string>;
  /** Whether a capability may be called again if its outcome is unknown. */
  isIdempotent(name: string): boolean;
  /** Executes tool calls. Never resolves if the turn has to wait for one of them: the request is then interrupted. */
  executeTools(calls: readonly CodeToolCall[], key: string): Promise<WireToolResult[]>;
  /** Notes that the code is alive. */
  noteActivity(): void;
}
