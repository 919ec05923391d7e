import type { PauseReason } from "@thinkery/sdk";
import type { ToolCall } from "../../model/model.ts";
import type { AgentStore } from "../../store/agent-store.ts";

/**
 * Returns the calls of the turn's last step that can be executed now: without a result, and not waiting for one. Calls
 * after one that waits for approval are not ready either, so that the model's order is kept.
 */
export function listReadyCalls(store: AgentStore, runId: string): ToolCall[] {
  const calls = store.messages.listUnansweredCalls(runId) as ToolCall[];
  if (calls.length === 0) return calls;
  const deferred = new Set(store.ledger.listDeferred(runId));
  const undecided = new Set(store.approvals.listUndecidedCalls(runId));
  const firstUndecided = calls.findIndex(({ id }) => undecided.has(id));
  return (firstUndecided < 0 ? calls : calls.slice(0, firstUndecided)).filter(
    ({ id }) => !deferred.has(id) || store.continuations.find(id)?.answer !== undefined,
  );
}

/** Returns whether calls of the turn wait for a result or a decision. */
export function hasWaitingCalls(store: AgentStore, runId: string): boolean {
  if (store.approvals.listUndecidedCalls(runId).length > 0) return true;
  return store.ledger.listDeferred(runId).some((id) => store.continuations.find(id)?.answer === undefined);
}

/** Returns what a turn waits for. A person comes first, because nothing happens without one. */
export function findPauseReason(store: AgentStore, runId: string, isWaitingForSubagents: boolean): PauseReason {
  if (store.approvals.listUndecidedCalls(runId).length > 0) return "hitl";
  const kinds = store.continuations
    .listOpen()
    .filter((continuation) => continuation.runId === runId)
    .map(({ kind }) => kind);
  if (kinds.includes("input")) return "input";
  if (isWaitingForSubagents) return "subagent";
  return kinds[0] ?? "deferred";
}
