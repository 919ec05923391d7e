import type { GenerateOptions, ModelRole, NewEvent, UsageTotal } from "@thinkery/sdk";
import { ModelError } from "../../model/error.ts";
import type { Model, ModelRequest, Usage } from "../../model/model.ts";
import { pause } from "../../model/pause.ts";
import { getRetryDelayMs } from "../../model/retry.ts";
import type { TurnBudget } from "../budget/turn-budget.ts";
import { countUsage } from "./model-call.ts";

export interface GenerateDeps {
  runId: string;
  step: number;
  signal: AbortSignal;
  openModel(role: ModelRole): Promise<Model>;
  getCost(model: string, usage: Usage): number | undefined;
  budget: Pick<TurnBudget, "open" | "close">;
  record(event: NewEvent): void;
  /** Called whenever the model streams something. */
  onActivity(): void;
}

/**
 * Makes one model call outside the conversation and returns its text. It is budgeted and retried like every other call.
 */
export async function generate(input: GenerateOptions, options: GenerateDeps): Promise<string> {
  const { role = "fast", prompt, system = "", purpose = "check", maxOutputTokens } = input;
  const { runId, step, signal, budget, getCost, record, onActivity } = options;
  const model = await options.openModel(role);
  const request: ModelRequest = {
    system,
    messages: [{ role: "user", content: prompt }],
    tools: [],
    ...(maxOutputTokens ? { settings: { maxOutputTokens } } : {}),
  };
  const reservation = await budget.open(model.id);
  let used: UsageTotal | undefined;
  try {
    for (let attempt = 1; ; attempt++) {
      const startedAt = Date.now();
      try {
        const { text, usage } = await collectAnswer(model, request, signal, onActivity);
        used = countUsage(usage, (sanitized) => getCost(model.id, sanitized));
        record({
          type: "model.generated",
          data: { runId, step, role, model: model.id, purpose, usage: used, ms: Date.now() - startedAt },
        });
        return text;
      } catch (error) {
        signal.throwIfAborted();
        const delay = error instanceof ModelError ? getRetryDelayMs(error, attempt, Math.random) : undefined;
        if (delay === undefined) throw error;
        await pause(delay, signal);
      }
    }
  } finally {
    budget.close(reservation, used);
  }
}

async function collectAnswer(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  onActivity: () => void,
): Promise<{ text: string; usage: Usage | undefined }> {
  let text = "";
  let usage: Usage | undefined;
  for await (const parts of model.stream(request, signal)) {
    onActivity();
    for (const part of parts) {
      if (part.type === "text") text += part.text;
      else if (part.type === "finish") ({ usage } = part);
    }
  }
  return { text, usage };
}
