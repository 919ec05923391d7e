import type { ChatMessage, NewEvent, UsageTotal } from "@thinkery/sdk";
import type { ModelCallEnd } from "../../drivers/driver.ts";
import { createCallId, type ToolCall, type Usage } from "../../model/model.ts";
import type { Ledger } from "../../store/ledger.ts";
import { createFrozenCopy } from "../../store/persisted-object.ts";

/** The turn's latest call to a model: which one is asked, and what it has said. */
export class ModelCall {
  readonly #runId: string;
  modelId = "";
  #messageId = "";
  #text: string | undefined;
  #startedAt = 0;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Has this life of the turn made one? */
  get hasStarted(): boolean {
    return this.#messageId !== "";
  }

  /** What the model said; unknown until this life has made a call. */
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

  /** What was done in between is not its time. */
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

  /** The answer as middleware sees it: a copy, since what the tools are given is not its to change. */
  toChatMessage(calls: readonly ToolCall[]): ChatMessage {
    const toolCalls = calls.map(({ id, name, input }) => ({ id, name, args: createFrozenCopy(input) }));
    return { role: "assistant", content: this.#text ?? "", ...(toolCalls.length > 0 ? { toolCalls } : {}) };
  }
}

/** Some models number their calls from zero in every answer; an id must mean one call for ever. */
export function assignCallIds(calls: readonly ToolCall[], ledger: Ledger): ToolCall[] {
  const taken = new Set<string>();
  return calls.map((call) => {
    const isFree = call.id && !taken.has(call.id) && !ledger.has(call.id);
    const id = isFree ? call.id : createCallId();
    taken.add(id);
    return { ...call, id };
  });
}

/** No call has more tokens than this; a provider that says so is broken. */
const maxTokens = 1_000_000_000;

/** Counts what a call used and cost. Whatever a provider or a table of prices says, the result can be added up. */
export function countUsage(usage: Usage | undefined, costOf: (usage: Usage) => number | undefined): UsageTotal {
  if (!usage) return { inputTokens: 0, outputTokens: 0, costUsd: null };
  const clampTokens = (value: number) => (value > 0 ? Math.min(Math.round(value), maxTokens) : 0);
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage;
  const sane: Usage = {
    inputTokens: clampTokens(inputTokens),
    outputTokens: clampTokens(outputTokens),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens: clampTokens(cachedInputTokens) }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens: clampTokens(reasoningTokens) }),
  };
  return { ...sane, costUsd: costOf(sane) ?? null };
}
