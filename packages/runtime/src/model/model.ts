/** The door to models: one interface, whatever the provider and its wire format. */

export type JsonSchema = Record<string, unknown>;

export interface ToolDefinition {
  name: string;
  description: string;
  /** JSON schema of the input. */
  parameters: JsonSchema;
}

export type UserPart = { type: "text"; text: string } | { type: "image"; mediaType: string; data: Uint8Array };

export interface ToolCall {
  id: string;
  name: string;
  input: unknown;
  /** The model's own text, where it was not JSON; `input` is then undefined. */
  malformed?: string;
}

/** For calls that came without an id, or with one that means another call already. */
export function createCallId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "")}`;
}

export type ModelMessage =
  | { role: "user"; content: string | UserPart[] }
  | {
      role: "assistant";
      content: string;
      toolCalls?: ToolCall[];
      /** What the same adapter said must come back unchanged (signatures of thoughts, say). */
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

/** What a message says, in words: an image by its kind. */
export function getMessageText({ content }: ModelMessage): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `[image, ${part.mediaType}]`)).join("\n");
}

/** Opaque to everybody but the adapter named in it. */
export interface Replay {
  adapter: string;
  data: unknown;
}

export interface ModelSettings {
  temperature?: number;
  maxOutputTokens?: number;
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
  /** A whole call; its input has been assembled and parsed. */
  | { type: "tool-call"; call: ToolCall }
  | { type: "replay"; replay: Replay }
  | { type: "finish"; reason: FinishReason; usage?: Usage };

export interface Model {
  /** `provider:model`, as people write it. */
  readonly id: string;
  /**
   * One call, streamed: the parts that arrived together come together, because a hop of the event loop costs more
   * than a part. Ends after exactly one `finish`. Throws a `ModelError`; what came before it is then void.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart[]>;
}
