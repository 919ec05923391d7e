import type { ModelRole, NewEvent, UsageTotal } from "@thinkery/sdk";
import { modelRoles } from "@thinkery/sdk";
import type { CodeModelRequest } from "../../drivers/isolate/code-scope.ts";
import { createBrokenOffError, ModelError } from "../../model/error.ts";
import type { Model, ModelPart, Usage } from "../../model/model.ts";
import { pause } from "../../model/pause.ts";
import { getRetryDelayMs } from "../../model/retry.ts";
import type { TurnBudget } from "../budget/turn-budget.ts";
import { countUsage } from "./model-call.ts";

export interface StreamModelDeps {
  runId: string;
  step: number;
  openModel(role: ModelRole): Promise<Model>;
  openModelById(id: string): Promise<Model>;
  getContextWindow(modelId: string): Promise<number>;
  getCost(model: string, usage: Usage): number | undefined;
  budget: Pick<TurnBudget, "open" | "close">;
  record(event: NewEvent): void;
  onActivity(): void;
}

/**
 * Makes a model call for the code of an agent and yields its parts. Budgeted and counted like every call. Retried as
 * long as nothing of the response has been passed on.
 */
export async function* streamModel(
  { model: chosen, ...request }: CodeModelRequest,
  signal: AbortSignal,
  deps: StreamModelDeps,
): AsyncGenerator<ModelPart[], void, undefined> {
  const { runId, step, budget, getCost, record, onActivity } = deps;
  const role = modelRoles.find((name) => name === chosen);
  const model = await (role ? deps.openModel(role) : deps.openModelById(chosen));
  const reservation = await budget.open(model.id);
  let used: UsageTotal | undefined;
  try {
    for (let attempt = 1; ; attempt++) {
      const startedAt = Date.now();
      let hasYielded = false;
      try {
        for await (const parts of model.stream(request, signal)) {
          onActivity();
          const finish = parts.find((part) => part.type === "finish");
          if (finish) {
            used = countUsage(finish.usage, (sanitized) => getCost(model.id, sanitized));
            const ms = Date.now() - startedAt;
            const limit = await deps.getContextWindow(model.id);
            const context = { used: used.inputTokens + used.outputTokens, limit, model: model.id };
            record({
              type: "model.generated",
              data: {
                runId,
                step,
                ...(role ? { role } : {}),
                model: model.id,
                purpose: "code",
                usage: used,
                ms,
                ...(context.used > 0 ? { context } : {}),
              },
            });
          }
          hasYielded = true;
          yield parts;
        }
        if (!used) throw createBrokenOffError();
        return;
      } catch (error) {
        signal.throwIfAborted();
        const delay =
          error instanceof ModelError && !hasYielded ? getRetryDelayMs(error, attempt, Math.random) : undefined;
        if (delay === undefined) throw error;
        await pause(delay, signal);
      }
    }
  } finally {
    budget.close(reservation, used);
  }
}
