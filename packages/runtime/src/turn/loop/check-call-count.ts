import type { ToolCall } from "../../model/model.ts";
import { TurnError } from "../turn-error.ts";

const maxCalls = 200;
/** Delegations have a limit of their own, and those beyond it are refused one by one. */
const maxCallsWithDelegations = 1000;
const delegatingTools: ReadonlySet<string> = new Set(["task", "delegateToSubagent"]);

/** Throws if a model requested more calls at once than any task needs. */
export function checkCallCount(calls: readonly Pick<ToolCall, "name">[]): void {
  if (calls.length <= maxCalls) return;
  const ownCount = calls.filter(({ name }) => !delegatingTools.has(name)).length;
  const max = ownCount > maxCalls ? maxCalls : maxCallsWithDelegations;
  if (ownCount <= maxCalls && calls.length <= maxCallsWithDelegations) return;
  throw new TurnError(
    "model_refused",
    `The model requested ${calls.length} tool calls at once; the maximum is ${max}.`,
    "Ask for less at a time, or use another model.",
  );
}
