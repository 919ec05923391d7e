import type { LanguageModelV4, LanguageModelV4StreamPart, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { FinishReason, Model, ModelPart, ModelRequest, Usage } from "../model.ts";
import { networkFailure } from "../wire/fail.ts";
import type { Layout } from "../wire/layout.ts";
import { count, Parts, toolCall } from "../wire/parts.ts";
import { Patience } from "../wire/patience.ts";
import { sorted } from "./ai-sdk/fail.ts";
import { type Kept, prompt } from "./ai-sdk/prompt.ts";

/** A model of the AI SDK behind our interface: for reach, not for speed. */
export interface AiSdkOptions {
  id: string;
  key?: string;
  keyName?: string;
  idleMs?: number;
  /** Options of the provider, for every call. */
  providerOptions?: SharedV4ProviderOptions;
}

const reasons: Record<string, FinishReason> = { stop: "stop", length: "length", "content-filter": "content", "tool-calls": "tool-calls" };

export function aiSdkModel(model: LanguageModelV4, options: AiSdkOptions): Model {
  return { id: options.id, stream: (request, signal) => stream(model, options, request, signal) };
}

async function* stream(model: LanguageModelV4, options: AiSdkOptions, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart[]> {
  signal.throwIfAborted();
  const adapter = `ai-sdk ${options.id}`;
  const patience = new Patience(options.idleMs ?? 120_000, signal);
  const parts = new Parts();
  const answer = new AiSdkAnswer(adapter);
  let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
  try {
    const asked = model.doStream({
      prompt: prompt(request, adapter),
      tools: request.tools.map(({ name, description, parameters }) => ({ type: "function", name, description, inputSchema: parameters })),
      ...request.settings,
      abortSignal: patience.stop.signal,
      ...(options.providerOptions ? { providerOptions: options.providerOptions } : {}),
    });
    patience.begin();
    reader = (await asked).stream.getReader();
    while (!parts.finished) {
      patience.begin();
      const { done, value } = await reader.read();
      patience.pause();
      if (done) throw networkFailure(options, "broke off in the middle of its answer.");
      answer.take(value, parts);
      const arrived = parts.take();
      if (arrived.length > 0) yield arrived;
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw patience.exhausted ? networkFailure(options, "was silent for too long.") : sorted(options, error);
  } finally {
    patience.end();
    void reader?.cancel().catch(() => {});
    patience.stop.abort();
  }
}

class AiSdkAnswer {
  private layout: Layout<Kept> = [];
  /** Where the text and the thoughts that are still being written stand in the layout. */
  private open = new Map<string, { at: number; options?: SharedV4ProviderOptions; text: string }>();
  private called = false;

  constructor(private readonly adapter: string) {}

  take(part: LanguageModelV4StreamPart, parts: Parts): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        // Two places: what the provider wants back with it, and the thing itself.
        this.open.set(part.id, { at: this.layout.push({ text: 0 }, { text: 0 }) - 2, text: "" });
        this.note(part);
        break;
      case "text-delta":
      case "reasoning-delta":
        if (part.type === "text-delta") parts.text(part.delta);
        else parts.reasoning(part.delta);
        this.note(part, part.delta);
        break;
      case "text-end":
      case "reasoning-end":
        this.note(part);
        break;
      case "tool-call": {
        if (part.providerExecuted) break;
        const call = toolCall(part.toolCallId, part.toolName, part.input);
        this.called = true;
        if (part.providerMetadata) this.layout.push({ kept: { options: part.providerMetadata } });
        this.layout.push({ call: call.id });
        parts.call(call);
        break;
      }
      case "error":
        throw part.error;
      case "finish":
        this.finish(part, parts);
        break;
      default:
    }
  }

  private note(part: { type: string; id: string; providerMetadata?: SharedV4ProviderOptions }, delta = ""): void {
    const open = this.open.get(part.id);
    if (!open) return;
    open.text += delta;
    if (part.providerMetadata) open.options = { ...open.options, ...part.providerMetadata };
    const { at, options, text } = open;
    if (part.type.startsWith("reasoning")) {
      if (options) this.layout[at] = { kept: { reasoning: text, options } };
    } else {
      this.layout[at + 1] = { text: text.length };
      if (options) this.layout[at] = { kept: { options } };
    }
  }

  private finish({ finishReason, usage }: Extract<LanguageModelV4StreamPart, { type: "finish" }>, parts: Parts): void {
    const { unified, raw } = finishReason;
    if (unified === "interrupted") throw new Error("the answer was cut off");
    if (unified === "error") throw { error: { message: `it stopped with ${raw ?? "an error"}.` } };
    if (this.layout.some((entry) => "kept" in entry)) parts.replay({ adapter: this.adapter, data: this.layout.filter(isSomething) });
    const reason = reasons[unified] ?? "other";
    parts.finish(reason === "stop" && this.called ? "tool-calls" : reason, usageOf(usage));
  }
}

const isSomething = (entry: Layout<Kept>[number]): boolean => !("text" in entry) || entry.text > 0;

function usageOf({ inputTokens, outputTokens }: Extract<LanguageModelV4StreamPart, { type: "finish" }>["usage"]): Usage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  return {
    inputTokens: count(inputTokens.total),
    outputTokens: count(outputTokens.total),
    ...(inputTokens.cacheRead === undefined ? {} : { cachedInputTokens: inputTokens.cacheRead }),
    ...(outputTokens.reasoning === undefined ? {} : { reasoningTokens: outputTokens.reasoning }),
  };
}
