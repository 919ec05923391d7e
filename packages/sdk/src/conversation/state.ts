import type { AgentStatus, Run } from "../protocol/turn.ts";
import type { ConversationUpdate, TurnEnd } from "./update.ts";
import { formatAsk } from "./waits.ts";

/** The state of an agent that has received no message, as far as is known. */
export const emptyState: AgentStatus = { status: "idle", run: { runId: "", status: "idle", step: 0 }, queued: 0 };

/** Applies an update from the log to the state that the agent syncs. Its `status` is sent in separate frames. */
export function reduceState(state: AgentStatus, update: ConversationUpdate): AgentStatus {
  switch (update.kind) {
    case "request":
      return update.joined ? state : addQueued(state, 1);
    case "message-requeued":
      return addQueued(state, 1);
    case "turn-started":
      return { ...addQueued(state, -1), run: { runId: update.runId, status: "running", step: 1 } };
    case "step":
      return updateRun(state, update.runId, { step: update.step });
    case "turn-paused":
      return updateRun(state, update.runId, { status: "paused", reason: update.reason });
    case "turn-resumed": {
      const { pendingContinuation: _, ...rest } = state;
      const { reason: __, ...run } = state.run;
      return update.runId === run.runId ? { ...rest, run: { ...run, status: "running" } } : state;
    }
    case "approval-asked": {
      const { id, turn, calls, createdAt, expiresAt: dueAt } = update.approval;
      return {
        ...state,
        pendingContinuation: { id, kind: "approval", prompt: formatAsk(calls), turn, createdAt, dueAt },
      };
    }
    case "wait-started":
      return state.pendingContinuation ? state : { ...state, pendingContinuation: update.continuation };
    case "turn-ended":
      return endRun(state, update.runId, update.end);
    case "message-completed":
    case "usage":
      return update.context ? { ...state, context: update.context } : state;
    case "note":
      if (update.note.kind !== "compaction" || !state.context) return state;
      return { ...state, context: { ...state.context, used: update.note.after } };
    case "title":
      return { ...state, title: update.title };
    case "agent-stopped":
      return { ...state, status: "stopped" };
    case "agent-resumed":
      return state.status === "stopped" ? { ...state, status: "idle" } : state;
    case "cleared":
      return update.isStopped ? { ...emptyState, status: "stopped" } : emptyState;
    default:
      return state;
  }
}

function endRun({ pendingContinuation, ...rest }: AgentStatus, runId: string, end: TurnEnd): AgentStatus {
  const isPending = pendingContinuation !== undefined && pendingContinuation.turn !== runId;
  const state = isPending ? { ...rest, pendingContinuation } : rest;
  if (end.status === "canceled") return cancelRun(state, runId);
  return updateRun(state, runId, {
    status: end.status,
    ...(end.status === "error" ? { reason: end.failure.message } : {}),
  });
}

function updateRun(state: AgentStatus, runId: string, changes: Partial<Run>): AgentStatus {
  return state.run.runId === runId ? { ...state, run: { ...state.run, ...changes } } : state;
}

function cancelRun(state: AgentStatus, runId: string): AgentStatus {
  if (state.run.runId === runId) return updateRun(state, runId, { status: "canceled" });
  const next = addQueued(state, -1);
  // It never started. But while nothing runs, `run` is the latest turn that ended.
  return isRunOpen(state.run) ? next : { ...next, run: { runId, status: "canceled", step: 0 } };
}

function addQueued(state: AgentStatus, count: number): AgentStatus {
  const queued = Math.max(0, state.queued + count);
  // Before the first turn starts, `run` shows whether one is queued.
  const run: Run = state.run.runId === "" ? { ...state.run, status: queued > 0 ? "registered" : "idle" } : state.run;
  return { ...state, queued, run };
}

export function isRunOpen({ status }: Run): boolean {
  return status === "running" || status === "paused";
}
