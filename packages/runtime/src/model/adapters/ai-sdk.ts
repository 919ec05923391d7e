import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { FinishReason, Model, ModelPart, ModelRequest, ModelSettings, Usage } from "../model.ts";
import { getEffort } from "../reasoning.ts";
import { createNetworkError } from "../wire/create-model-error.ts";
import { IdleTimeout } from "../wire/idle-timeout.ts";
import type { Layout } from "../wire/layout.ts";
import { toCount, PartCollector, parseToolCall } from "../wire/parts.ts";
import { type AiSdkReplay, createPrompt } from "./ai-sdk/prompt.ts";
import { toModelError } from "./ai-sdk/to-model-error.ts";

export interface AiSdkOptions {
  id: string;
  key?: string;
  keyName?: string;
  idleMs?: number;
  /** Returns the provider's own options for a call. */
  providerOptions?(settings: ModelSettings | undefined): SharedV4ProviderOptions;
}

const finishReasons: Record<string, FinishReason> = {
  stop: "stop",
  length: "length",
  "content-filter": "content",
  "tool-calls": "tool-calls",
};

/** Wraps an AI SDK model. Covers more providers than our own wire formats, but is slower. */
export function createAiSdkModel(model: LanguageModelV4, options: AiSdkOptions): Model {
  return { id: options.id, stream: (request, signal) => streamParts(model, options, request, signal) };
}

async function* streamParts(
  model: LanguageModelV4,
  options: AiSdkOptions,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart[]> {
  signal.throwIfAborted();
  const adapter = `ai-sdk ${options.id}`;
  const idleTimeout = new IdleTimeout(options.idleMs ?? 120_000, signal);
  const parts = new PartCollector();
  const parser = new AiSdkResponseParser(adapter);
  let reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | undefined;
  try {
    const response = model.doStream({
      prompt: createPrompt(request, adapter),
      tools: request.tools.map(({ name, description, parameters }) => ({
        type: "function",
        name,
        description,
        inputSchema: parameters,
      })),
      ...toCallSettings(request.settings),
      abortSignal: idleTimeout.controller.signal,
      ...(options.providerOptions ? { providerOptions: options.providerOptions(request.settings) } : {}),
    });
    idleTimeout.begin();
    reader = (await response).stream.getReader();
    while (!parts.isFinished) {
      idleTimeout.begin();
      const { done, value } = await reader.read();
      idleTimeout.pause();
      if (done) throw createNetworkError(options, "closed the stream before the response was complete.");
      parser.take(value, parts);
      const arrived = parts.take();
      if (arrived.length > 0) yield arrived;
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw idleTimeout.hasExpired
      ? createNetworkError(options, "sent no data for too long.")
      : toModelError(options, error);
  } finally {
    idleTimeout.end();
    void reader?.cancel().catch(() => {});
    idleTimeout.controller.abort();
  }
}

function toCallSettings(settings: ModelSettings = {}): Pick<LanguageModelV4CallOptions, CallSetting> {
  const { temperature, maxOutputTokens } = settings;
  const effort = getEffort(settings);
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(effort ? { reasoning: effort } : {}),
  };
}

type CallSetting = "temperature" | "maxOutputTokens" | "reasoning";

class AiSdkResponseParser {
  private layout: Layout<AiSdkReplay> = [];
  /** Text and reasoning blocks still being streamed, with their position in the layout. */
  private open = new Map<string, { at: number; options?: SharedV4ProviderOptions; text: string }>();
  private hasCalls = false;

  constructor(private readonly adapter: string) {}

  take(part: LanguageModelV4StreamPart, parts: PartCollector): void {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        // Two entries: the metadata the provider wants back, and the block itself.
        this.open.set(part.id, { at: this.layout.push({ text: 0 }, { text: 0 }) - 2, text: "" });
        this.update(part);
        break;
      case "text-delta":
      case "reasoning-delta":
        if (part.type === "text-delta") parts.addText(part.delta);
        else parts.addReasoning(part.delta);
        this.update(part, part.delta);
        break;
      case "text-end":
      case "reasoning-end":
        this.update(part);
        break;
      case "tool-call": {
        if (part.providerExecuted) break;
        const call = parseToolCall(part.toolCallId, part.toolName, part.input);
        this.hasCalls = true;
        if (part.providerMetadata) this.layout.push({ kept: { options: part.providerMetadata } });
        this.layout.push({ call: call.id });
        parts.addCall(call);
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

  private update(part: { type: string; id: string; providerMetadata?: SharedV4ProviderOptions }, delta = ""): void {
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

  private finish(
    { finishReason, usage }: Extract<LanguageModelV4StreamPart, { type: "finish" }>,
    parts: PartCollector,
  ): void {
    const { unified, raw } = finishReason;
    if (unified === "interrupted") throw new Error("the response was cut off");
    if (unified === "error") throw { error: { message: `the response ended with “${raw ?? "error"}”.` } };
    if (this.layout.some((entry) => "kept" in entry))
      parts.addReplay({ adapter: this.adapter, data: this.layout.filter(isNonEmpty) });
    const reason = finishReasons[unified] ?? "other";
    parts.finish(reason === "stop" && this.hasCalls ? "tool-calls" : reason, toUsage(usage));
  }
}

const isNonEmpty = (entry: Layout<AiSdkReplay>[number]): boolean => !("text" in entry) || entry.text > 0;

function toUsage({
  inputTokens,
  outputTokens,
}: Extract<LanguageModelV4StreamPart, { type: "finish" }>["usage"]): Usage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  return {
    inputTokens: toCount(inputTokens.total),
    outputTokens: toCount(outputTokens.total),
    ...(inputTokens.cacheRead === undefined ? {} : { cachedInputTokens: inputTokens.cacheRead }),
    ...(outputTokens.reasoning === undefined ? {} : { reasoningTokens: outputTokens.reasoning }),
  };
}
