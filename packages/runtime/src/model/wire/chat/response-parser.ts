import type { FinishReason, Usage } from "../../model.ts";
import type { ResponseParser } from "../call.ts";
import { toCount, type PartCollector, parseToolCall } from "../parts.ts";

interface ToolCallDelta {
  index?: number;
  id?: string | null;
  /** Gemini puts its reasoning signature here. */
  extra_content?: unknown;
  function?: { name?: string | null; arguments?: unknown };
  /** Older Workers AI models omit `function`. */
  name?: string;
  arguments?: unknown;
}

/** A reasoning block as OpenRouter returns it. */
type Detail = Record<string, unknown>;

interface Delta {
  content?: string | { text?: string }[] | null;
  refusal?: string | null;
  reasoning_content?: string | null;
  reasoning?: string | null;
  reasoning_details?: Detail[] | null;
  tool_calls?: ToolCallDelta[] | null;
}

interface Chunk {
  choices?: { delta?: Delta; message?: Delta; finish_reason?: string | null }[];
  usage?: ChatUsage | null;
  /** Older Workers AI models. */
  response?: string | null;
  tool_calls?: ToolCallDelta[] | null;
}

interface ChatUsage {
  prompt_tokens?: number;
  completion_tokens?: number;
  prompt_tokens_details?: { cached_tokens?: number } | null;
  prompt_cache_hit_tokens?: number;
  completion_tokens_details?: { reasoning_tokens?: number } | null;
}

/** Reasoning and signatures that some servers want back together with their tool calls. */
export interface ChatReplay {
  fields?: { reasoning_content?: string; reasoning_details?: Detail[] };
  calls?: Record<string, { extra_content: unknown }>;
}

interface OpenCall {
  index: number | undefined;
  id: string | undefined;
  name: string;
  text: string;
  extra?: unknown;
}

const finishReasons: Record<string, FinishReason> = {
  stop: "stop",
  eos: "stop",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  content_filter: "content",
};

export class ChatResponseParser implements ResponseParser {
  private calls: OpenCall[] = [];
  private reason: FinishReason | undefined;
  private usage: Usage | undefined;
  private reasoning = "";
  private details: Detail[] = [];
  private isRefused = false;

  constructor(private readonly adapter: string) {}

  take(chunk: Chunk, parts: PartCollector): undefined {
    const choice = chunk.choices?.[0];
    if (choice?.delta) this.addDelta(choice.delta, parts);
    parts.addText(chunk.response);
    if (chunk.tool_calls) this.collect(chunk.tool_calls);
    if (choice?.finish_reason) this.reason = finishReasons[choice.finish_reason] ?? "other";
    if (chunk.usage) this.usage = toUsage(chunk.usage);
  }

  /** Some servers send no `[DONE]`; after a finish reason, the end of the body counts as the end. */
  end(parts: PartCollector, marked: boolean): void {
    if (!marked && this.reason === undefined) return;
    const calls = this.calls.map((open) => ({ call: parseToolCall(open.id, open.name, open.text), extra: open.extra }));
    for (const { call } of calls) parts.addCall(call);
    const replay = this.createReplay(calls);
    if (replay) parts.addReplay({ adapter: this.adapter, data: replay });
    parts.finish(this.getFinishReason(), this.usage);
  }

  takeWhole(chunk: Chunk, parts: PartCollector): undefined {
    const choice = chunk.choices?.[0];
    this.take({ ...chunk, choices: choice ? [{ ...choice, delta: choice.message ?? choice.delta ?? {} }] : [] }, parts);
    this.end(parts, choice !== undefined || typeof chunk.response === "string");
  }

  private getFinishReason(): FinishReason {
    if (this.isRefused) return "content";
    // Some servers report “stop” although there are calls.
    if (this.calls.length > 0 && (this.reason === "stop" || this.reason === undefined)) return "tool-calls";
    return this.reason ?? "stop";
  }

  private addDelta(delta: Delta, parts: PartCollector): void {
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    if (reasoning) parts.addReasoning(reasoning);
    if (delta.reasoning_content) this.reasoning += delta.reasoning_content;
    for (const detail of delta.reasoning_details ?? []) this.addDetail(detail);
    if (Array.isArray(delta.content)) for (const piece of delta.content) parts.addText(piece.text);
    else parts.addText(delta.content);
    if (delta.refusal) {
      this.isRefused = true;
      parts.addText(delta.refusal);
    }
    if (delta.tool_calls) this.collect(delta.tool_calls);
  }

  /** Details are streamed in pieces too; merged into one object instead of one per token. */
  private addDetail(piece: Detail): void {
    const last = this.details.at(-1);
    if (!last || last.type !== piece.type || last.index !== piece.index || piece.data !== undefined) {
      this.details.push({ ...piece });
      return;
    }
    for (const [field, value] of Object.entries(piece)) {
      const isAppended = field === "text" || field === "summary";
      if (value !== null && value !== undefined)
        last[field] = isAppended ? `${last[field] ?? ""}${String(value)}` : value;
    }
  }

  private collect(deltas: ToolCallDelta[]): void {
    for (const delta of deltas) {
      const name = delta.function?.name ?? delta.name ?? "";
      const piece = delta.function?.arguments ?? delta.arguments ?? "";
      const open = this.openCall(delta, name);
      if (!open) continue;
      open.name ||= name;
      open.text += typeof piece === "string" ? piece : JSON.stringify(piece);
      if (delta.extra_content !== undefined) open.extra = delta.extra_content;
    }
  }

  /** Calls are identified by index, but some servers send none, or the same one for every call with a new id. */
  private openCall(delta: ToolCallDelta, name: string): OpenCall | undefined {
    const id = delta.id || undefined;
    const known =
      delta.index === undefined
        ? id || name
          ? this.calls.find((open) => id !== undefined && open.id === id)
          : this.calls.at(-1)
        : this.calls.findLast((open) => open.index === delta.index);
    const isNewCall = known && id && known.id && id !== known.id && name;
    if (known && !isNewCall) return known;
    if (!id && !name) return undefined;
    const open: OpenCall = { index: delta.index, id, name: "", text: "" };
    this.calls.push(open);
    return open;
  }

  private createReplay(calls: { call: { id: string }; extra: unknown }[]): ChatReplay | undefined {
    const signed = calls.filter(({ extra }) => extra !== undefined);
    const replay: ChatReplay = {};
    if (this.details.length > 0) replay.fields = { reasoning_details: this.details };
    else if (this.reasoning && calls.length > 0) replay.fields = { reasoning_content: this.reasoning };
    if (signed.length > 0)
      replay.calls = Object.fromEntries(signed.map(({ call, extra }) => [call.id, { extra_content: extra }]));
    return replay.fields || replay.calls ? replay : undefined;
  }
}

function toUsage(usage: ChatUsage): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens;
  return {
    inputTokens: toCount(usage.prompt_tokens),
    outputTokens: toCount(usage.completion_tokens),
    ...(cached === undefined ? {} : { cachedInputTokens: toCount(cached) }),
    ...(reasoning === undefined ? {} : { reasoningTokens: toCount(reasoning) }),
  };
}
