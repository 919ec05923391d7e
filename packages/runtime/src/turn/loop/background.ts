import type { CodeAccess } from "../../drivers/driver.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import type { Blobs } from "../../store/blobs/blobs.ts";
import { TurnBudget } from "../budget/turn-budget.ts";
import { RepetitionGuard } from "../calls/repetition.ts";
import { ResultEvents } from "../calls/result-events.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { openCodeAccess } from "./code-access.ts";
import { createTurnScope } from "./create-turn-scope.ts";
import { generate } from "./generate.ts";
import type { Recorder } from "./recorder.ts";

interface BackgroundOptions {
  agent: string;
  store: AgentStore;
  blobs: Blobs;
  recorder: Recorder;
  deps: TurnDeps;
  signal: AbortSignal;
  onActivity(): void;
}

/**
 * Opens what the code of an agent can use between turns, such as in a tool that another agent calls. Its calls are in
 * the log, under an id that belongs to no turn; what it spends counts for the agent and all budgets above it.
 */
export function openBackgroundAccess({ onActivity, ...options }: BackgroundOptions): CodeAccess {
  const { recorder, deps, signal } = options;
  const { models, getCost } = deps;
  const runId = `background-${crypto.randomUUID()}`;
  const step = 0;
  const budget = new TurnBudget({ ...options, runId, isResumed: false, record: () => {} });
  const model = {
    openModel: models.open,
    openModelById: models.openById,
    getContextWindow: models.getContextWindow,
    getCost,
    budget,
    onActivity,
  };
  const generateText: Parameters<typeof createTurnScope>[0]["generate"] = (input) =>
    generate(input, { ...model, runId, step, signal, record: (event) => recorder.record(event) });
  const middleware = deps.pipeline.createRunner(
    createTurnScope({
      ...options,
      runId,
      step: () => step,
      plan: () => undefined,
      generate: generateText,
      hold: (...events) => recorder.record(...events),
      flush: () => {},
    }),
  );
  return openCodeAccess({
    model,
    step: {
      ...options,
      runId,
      step,
      middleware,
      repetition: new RepetitionGuard(),
      resultEvents: new ResultEvents(),
      generate: generateText,
      progress: () => onActivity(),
      record: (...events) => recorder.record(...events),
      hold: (...events) => recorder.record(...events),
      mayHaveWaiting: () => false,
    },
  });
}
