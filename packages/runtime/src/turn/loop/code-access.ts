import type { CodeAccess } from "../../drivers/driver.ts";
import { CodeCalls } from "../calls/code-calls.ts";
import { closeChildCalls } from "../calls/model-calls.ts";
import type { StepContext } from "../calls/step-context.ts";
import { createToolContext } from "../calls/tool-context.ts";
import { streamModel, type StreamModelDeps } from "./stream-model.ts";

interface CodeAccessOptions {
  step: StepContext;
  model: Omit<StreamModelDeps, "runId" | "step" | "record">;
}

/** Opens what the code of an agent can use besides tools: models, and calls to capabilities. */
export function openCodeAccess({ step, model }: CodeAccessOptions): CodeAccess {
  const { runId, store, signal, deps, record } = step;
  // Calls of a run of the same code that was interrupted.
  const interrupted = closeChildCalls(store, runId, "outcome_unknown");
  if (interrupted.length > 0) record(...interrupted);
  const parentCallId = `code-${crypto.randomUUID()}`;
  let count = 0;
  const calls = new CodeCalls({
    parentCallId,
    signal,
    step,
    nextId: () => `${parentCallId}.${++count}`,
    createContext: (call, ending) => createToolContext({ ...call, parentCallId }, step, ending, record),
  });
  return {
    streamModel: (request, ending) => streamModel(request, ending, { ...model, runId, step: step.step, record }),
    callCapability: (name, json) => calls.call(name, json),
    isIdempotent: (name) => deps.capabilities.find((tool) => tool.name === name)?.idempotent === true,
    noteActivity: () => model.onActivity(),
    close: () => calls.close(),
  };
}
