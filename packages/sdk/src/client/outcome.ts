import type { AgentEvent } from "../protocol/event.ts";
import type { Outcome } from "../protocol/turn.ts";

/** Folds a turn's events, one after the other, into its outcome. */
export class Tally {
  readonly #runId: string;
  readonly #agent: string;
  readonly #usage: Outcome["usage"] = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  readonly #calls = new Map<string, Outcome["toolCalls"][number]>();
  #said = "";

  constructor(runId: string, agent: string) {
    this.#runId = runId;
    this.#agent = agent;
  }

  /** The outcome, once the event that ends the turn has come. */
  add({ type, data }: AgentEvent): Outcome | undefined {
    if (!("runId" in data) || data.runId !== this.#runId) return undefined;
    switch (type) {
      case "model.started":
        this.#said = "";
        return undefined;
      case "model.delta":
        this.#said += data.delta ?? "";
        return undefined;
      case "model.completed":
        add(this.#usage, data.usage);
        for (const { id, name, input } of data.toolCalls) this.#calls.set(id, { id, name, input });
        return undefined;
      case "model.consulted":
        add(this.#usage, data.usage);
        return undefined;
      case "tool.output":
        return this.#answered(data.callId, data.toolName, { output: data.output });
      case "tool.error":
        return this.#answered(data.callId, data.toolName, { output: data.error, failed: true });
      case "agent.completed":
        return this.#ended({ status: "completed", content: data.result });
      case "run.canceled":
        return this.#ended({ status: "canceled" });
      case "agent.error": {
        const { code, error: message, advice, budget } = data;
        return this.#ended({ status: "error", failure: { code, message, ...(advice ? { advice } : {}), ...(budget ? { budget } : {}) } });
      }
      default:
        return undefined;
    }
  }

  #answered(id: string, name: string, came: { output: string; failed?: boolean }): undefined {
    this.#calls.set(id, { ...(this.#calls.get(id) ?? { id, name, input: undefined }), ...came });
  }

  #ended(rest: Pick<Outcome, "status"> & Partial<Outcome>): Outcome {
    return { runId: this.#runId, agent: this.#agent, content: this.#said, toolCalls: Array.from(this.#calls.values()), usage: this.#usage, ...rest };
  }
}

/** How a turn ended, by these events; nothing while it goes on. */
export function outcomeIn(events: readonly AgentEvent[], runId: string, agent: string): Outcome | undefined {
  const tally = new Tally(runId, agent);
  for (const event of events) {
    const outcome = tally.add(event);
    if (outcome) return outcome;
  }
  return undefined;
}

function add(total: Outcome["usage"], more: Outcome["usage"]): void {
  total.inputTokens += more.inputTokens;
  total.outputTokens += more.outputTokens;
  if (more.cachedInputTokens !== undefined) total.cachedInputTokens = (total.cachedInputTokens ?? 0) + more.cachedInputTokens;
  if (more.reasoningTokens !== undefined) total.reasoningTokens = (total.reasoningTokens ?? 0) + more.reasoningTokens;
  total.costUsd = total.costUsd === null || more.costUsd === null ? null : total.costUsd + more.costUsd;
}
