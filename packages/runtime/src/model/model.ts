import type { ReasoningEffort } from "@thinkery/sdk";

export type JsonSchema = Record<string, unknown>;

export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON Schema of the input. */
  parameters: JsonSchema;
}

export type UserPart = { type: "text"; text: string } | { type: "image"; mediaType: string; data: Uint8Array };

export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
  /** The model's raw text if it was not valid JSON; `input` is then undefined. */
  malformed?: string;
}

/** For calls that arrive without an id, or with one already in use. */
export function createCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "")}`;
}

export type ModelMessage =
  | {
      role: "user";
      content: string | UserPart[];
      /** From the host, such as the report of a sub-agent; not what a person said. */
      notice?: true;
    }
  | {
      role: "assistant";
      content: string;
      toolCalls?: ToolCall[];
      /** Data the same adapter needs back unchanged, such as reasoning signatures. */
      replay?: Replay;
    }
  | {
      role: "tool";
      callId: string;
      name: string;
      content: string;
      failed?: boolean;
      images?: { mediaType: string; data: Uint8Array }[];
    };

/** Returns the text of a message, with a placeholder for each image. */
export function getMessageText({ content }: ModelMessage): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `[image, ${part.mediaType}]`)).join("\n");
}

/** Opaque to everything but the named adapter. */
export interface Replay {
  adapter: string;
  data: unknown;
}

export interface ModelSettings {
  temperature?: number;
  maxOutputTokens?: number;
  reasoningEffort?: ReasoningEffort;
  /** In tokens; for models that only know efforts, and the other way round, see reasoning.ts. */
  thinkingBudget?: number;
}

export interface ModelRequest {
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ToolDefinition[];
  settings?: ModelSettings;
}

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens?: number;
  reasoningTokens?: number;
}

export type FinishReason = "stop" | "tool-calls" | "length" | "content" | "other";

export type ModelPart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  /** A complete call with its input parsed. */
  | { type: "tool-call"; call: ToolCall }
  | { type: "replay"; replay: Replay }
  | { type: "finish"; reason: FinishReason; usage?: Usage };

/** One interface for all models, whatever the provider and its wire format. */
export interface Model {
  /** `provider:model` */
  readonly id: string;
  /**
   * Streams one call. Parts that arrive together are yielded together, because a hop of the event loop costs more than
   * a part. Ends after exactly one `finish`. Throws a `ModelError`; parts yielded before it are then void.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart[]>;
}
