import type { ChatMessage, NewEvent, UsageTotal } from "@thinkery/sdk";
import { roundUsd } from "@thinkery/sdk/internal";
import type { ModelCallEnd } from "../../drivers/driver.ts";
import type { ModelError } from "../../model/error.ts";
import { createCallId, type ToolCall, type Usage } from "../../model/model.ts";
import type { Ledger } from "../../store/ledger.ts";
import { createFrozenCopy } from "../../store/persisted-object.ts";

/** The turn's latest model call: which model, and the text it has produced so far. */
export class ModelCall {
  readonly #runId: string;
  modelId = "";
  #messageId = "";
  #text: string | undefined;
  #startedAt = 0;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Whether the turn has made a call since it was loaded. */
  get hasStarted(): boolean {
    return this.#messageId !== "";
  }

  /** The model's text; undefined until the turn makes a call after it was loaded. */
  get text(): string | undefined {
    return this.#text;
  }

  start(modelId: string, step: number, attempt: number): NewEvent {
    this.modelId = modelId;
    this.#messageId = crypto.randomUUID();
    this.#text = "";
    this.restartClock();
    return {
      type: "model.started",
      data: { runId: this.#runId, step, messageId: this.#messageId, model: this.modelId, attempt },
    };
  }

  /** Excludes what happened since the call was announced from its duration. */
  restartClock(): void {
    this.#startedAt = Date.now();
  }

  append(text: string): void {
    this.#text += text;
  }

  end(step: number, { finish, replay, context }: ModelCallEnd, usage: UsageTotal, toolCalls: ToolCall[]): NewEvent {
    return {
      type: "model.completed",
      data: {
        runId: this.#runId,
        step,
        messageId: this.#messageId,
        model: this.modelId,
        finish: finish.reason,
        usage,
        ms: Date.now() - this.#startedAt,
        toolCalls,
        ...(replay === undefined ? {} : { replay }),
        ...(context ? { context } : {}),
      },
    };
  }

  fail(step: number, error: ModelError, attempt: number, retryInMs: number | undefined): NewEvent {
    return {
      type: "model.failed",
      data: {
        runId: this.#runId,
        step,
        attempt,
        kind: error.kind,
        error: error.message,
        ...(retryInMs === undefined ? {} : { retryInMs }),
      },
    };
  }

  /** Returns the answer for middleware: a copy, because middleware must not change what the tools receive. */
  toChatMessage(calls: readonly ToolCall[]): ChatMessage {
    const toolCalls = calls.map(({ id, name, input }) => ({ id, name, args: createFrozenCopy(input) }));
    return { role: "assistant", content: this.#text ?? "", ...(toolCalls.length > 0 ? { toolCalls } : {}) };
  }
}

/** Makes call ids unique: some models number their calls from zero in every answer. */
export function assignCallIds(calls: readonly ToolCall[], ledger: Ledger): ToolCall[] {
  const taken = new Set<string>();
  return calls.map((call) => {
    const isFree = call.id && !taken.has(call.id) && !ledger.has(call.id);
    const id = isFree ? call.id : createCallId();
    taken.add(id);
    return { ...call, id };
  });
}

/** No call has more tokens than this; a provider that reports more is broken. */
const maxTokens = 1_000_000_000;

/** Returns the usage and cost of a call, sanitized so that totals stay valid whatever a provider reports. */
export function countUsage(usage: Usage | undefined, getCost: (usage: Usage) => number | undefined): UsageTotal {
  if (!usage) return { inputTokens: 0, outputTokens: 0, costUsd: null };
  const clampTokens = (value: number) => (value > 0 ? Math.min(Math.round(value), maxTokens) : 0);
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage;
  const sanitized: Usage = {
    inputTokens: clampTokens(inputTokens),
    outputTokens: clampTokens(outputTokens),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens: clampTokens(cachedInputTokens) }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens: clampTokens(reasoningTokens) }),
  };
  const cost = getCost(sanitized);
  return { ...sanitized, costUsd: cost === undefined ? null : roundUsd(cost) };
}
