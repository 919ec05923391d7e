import type { FinishReason, Usage } from "../../model.ts";
import type { Answer } from "../call.ts";
import { count, type Parts, toolCall } from "../parts.ts";

interface Call {
  index?: number;
  id?: string | null;
  /** Gemini keeps the signature of its thoughts here. */
  extra_content?: unknown;
  function?: { name?: string | null; arguments?: unknown };
  /** Workers AI's older models leave out the middle. */
  name?: string;
  arguments?: unknown;
}

/** A thought as OpenRouter keeps it. */
type Detail = Record<string, unknown>;

interface Delta {
  content?: string | { text?: string }[] | null;
  refusal?: string | null;
  reasoning_content?: string | null;
  reasoning?: string | null;
  reasoning_details?: Detail[] | null;
  tool_calls?: Call[] | null;
}

interface Chunk {
  choices?: { delta?: Delta; message?: Delta; finish_reason?: string | null }[];
  usage?: ChatUsage | null;
  /** Workers AI's older models. */
  response?: string | null;
  tool_calls?: Call[] | null;
}

interface ChatUsage {
  prompt_tokens?: number;
  completion_tokens?: number;
  prompt_tokens_details?: { cached_tokens?: number } | null;
  prompt_cache_hit_tokens?: number;
  completion_tokens_details?: { reasoning_tokens?: number } | null;
}

/** What some servers want back with the calls they made: their thoughts, and signatures. */
export interface ChatReplay {
  fields?: { reasoning_content?: string; reasoning_details?: Detail[] };
  calls?: Record<string, { extra_content: unknown }>;
}

interface Open {
  index: number | undefined;
  id: string | undefined;
  name: string;
  text: string;
  extra?: unknown;
}

const reasons: Record<string, FinishReason> = {
  stop: "stop",
  eos: "stop",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  content_filter: "content",
};

export class ChatAnswer implements Answer {
  private calls: Open[] = [];
  private reason: FinishReason | undefined;
  private usage: Usage | undefined;
  private thoughts = "";
  private details: Detail[] = [];
  private refused = false;

  constructor(private readonly adapter: string) {}

  take(chunk: Chunk, parts: Parts): undefined {
    const choice = chunk.choices?.[0];
    if (choice?.delta) this.delta(choice.delta, parts);
    parts.text(chunk.response);
    if (chunk.tool_calls) this.collect(chunk.tool_calls);
    if (choice?.finish_reason) this.reason = reasons[choice.finish_reason] ?? "other";
    if (chunk.usage) this.usage = usageOf(chunk.usage);
  }

  /** Some servers send no `[DONE]`; where a reason to finish came, the end of the body is as good. */
  end(parts: Parts, marked: boolean): void {
    if (!marked && this.reason === undefined) return;
    const calls = this.calls.map((open) => ({ call: toolCall(open.id, open.name, open.text), extra: open.extra }));
    for (const { call } of calls) parts.call(call);
    const replay = this.replay(calls);
    if (replay) parts.replay({ adapter: this.adapter, data: replay });
    parts.finish(this.outcome(), this.usage);
  }

  whole(chunk: Chunk, parts: Parts): undefined {
    const choice = chunk.choices?.[0];
    this.take({ ...chunk, choices: choice ? [{ ...choice, delta: choice.message ?? choice.delta ?? {} }] : [] }, parts);
    this.end(parts, choice !== undefined || typeof chunk.response === "string");
  }

  private outcome(): FinishReason {
    if (this.refused) return "content";
    // Some servers say “stop” although they call.
    if (this.calls.length > 0 && (this.reason === "stop" || this.reason === undefined)) return "tool-calls";
    return this.reason ?? "stop";
  }

  private delta(delta: Delta, parts: Parts): void {
    const thought = delta.reasoning_content ?? delta.reasoning;
    if (thought) parts.reasoning(thought);
    if (delta.reasoning_content) this.thoughts += delta.reasoning_content;
    for (const detail of delta.reasoning_details ?? []) this.detail(detail);
    if (Array.isArray(delta.content)) for (const piece of delta.content) parts.text(piece.text);
    else parts.text(delta.content);
    if (delta.refusal) {
      this.refused = true;
      parts.text(delta.refusal);
    }
    if (delta.tool_calls) this.collect(delta.tool_calls);
  }

  /** A detail comes in pieces as well; kept whole, it is one object and not one for every token. */
  private detail(piece: Detail): void {
    const last = this.details.at(-1);
    if (!last || last.type !== piece.type || last.index !== piece.index || piece.data !== undefined) {
      this.details.push({ ...piece });
      return;
    }
    for (const [field, value] of Object.entries(piece)) {
      const grows = field === "text" || field === "summary";
      if (value !== null && value !== undefined) last[field] = grows ? `${last[field] ?? ""}${String(value)}` : value;
    }
  }

  private collect(deltas: Call[]): void {
    for (const delta of deltas) {
      const name = delta.function?.name ?? delta.name ?? "";
      const piece = delta.function?.arguments ?? delta.arguments ?? "";
      const open = this.opened(delta, name);
      if (!open) continue;
      open.name ||= name;
      open.text += typeof piece === "string" ? piece : JSON.stringify(piece);
      if (delta.extra_content !== undefined) open.extra = delta.extra_content;
    }
  }

  /** Calls go by their index; but some servers have none, or give every call the same one and a new id. */
  private opened(delta: Call, name: string): Open | undefined {
    const id = delta.id || undefined;
    const known =
      delta.index === undefined
        ? id || name
          ? this.calls.find((open) => id !== undefined && open.id === id)
          : this.calls.at(-1)
        : this.calls.findLast((open) => open.index === delta.index);
    const another = known && id && known.id && id !== known.id && name;
    if (known && !another) return known;
    if (!id && !name) return undefined;
    const open: Open = { index: delta.index, id, name: "", text: "" };
    this.calls.push(open);
    return open;
  }

  private replay(calls: { call: { id: string }; extra: unknown }[]): ChatReplay | undefined {
    const signed = calls.filter(({ extra }) => extra !== undefined);
    const replay: ChatReplay = {};
    if (this.details.length > 0) replay.fields = { reasoning_details: this.details };
    else if (this.thoughts && calls.length > 0) replay.fields = { reasoning_content: this.thoughts };
    if (signed.length > 0) replay.calls = Object.fromEntries(signed.map(({ call, extra }) => [call.id, { extra_content: extra }]));
    return replay.fields || replay.calls ? replay : undefined;
  }
}

function usageOf(usage: ChatUsage): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens;
  return {
    inputTokens: count(usage.prompt_tokens),
    outputTokens: count(usage.completion_tokens),
    ...(cached === undefined ? {} : { cachedInputTokens: count(cached) }),
    ...(reasoning === undefined ? {} : { reasoningTokens: count(reasoning) }),
  };
}
