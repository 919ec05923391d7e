import type { AgentStatus, Run } from "../protocol/turn.ts";
import type { ConversationUpdate, TurnEnd } from "./update.ts";

/** An agent that nobody has said anything to, as far as is known. */
export const emptyState: AgentStatus = { status: "idle", run: { runId: "", status: "idle", step: 0 }, queued: 0 };

/** What the agent would sync after an update from its log. Its `status` is told in frames of its own. */
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
      return updateRun(state, update.runId, { status: "paused" });
    case "turn-resumed":
      return updateRun(state, update.runId, { status: "running" });
    case "turn-ended":
      return endRun(state, update.runId, update.end);
    case "message-completed":
      return update.context ? { ...state, context: update.context } : state;
    case "note":
      if (update.note.kind !== "compaction" || !state.context) return state;
      return { ...state, context: { ...state.context, used: update.note.after } };
    case "title":
      return { ...state, title: update.title };
    case "cleared":
      return emptyState;
    default:
      return state;
  }
}

function endRun(state: AgentStatus, runId: string, end: TurnEnd): AgentStatus {
  if (end.status === "canceled") return cancelRun(state, runId);
  return updateRun(state, runId, {
    status: end.status,
    ...(end.status === "error" ? { reason: end.failure.message } : {}),
  });
}

function updateRun(state: AgentStatus, runId: string, part: Partial<Run>): AgentStatus {
  return state.run.runId === runId ? { ...state, run: { ...state.run, ...part } } : state;
}

function cancelRun(state: AgentStatus, runId: string): AgentStatus {
  if (state.run.runId === runId) return updateRun(state, runId, { status: "canceled" });
  const left = addQueued(state, -1);
  // It never began; but while nothing runs, the latest turn to end is where the agent stands.
  return isRunOpen(state.run) ? left : { ...left, run: { runId, status: "canceled", step: 0 } };
}

function addQueued(state: AgentStatus, more: number): AgentStatus {
  const queued = Math.max(0, state.queued + more);
  // Before its first turn an agent stands where that one does.
  const run: Run = state.run.runId === "" ? { ...state.run, status: queued > 0 ? "registered" : "idle" } : state.run;
  return { ...state, queued, run };
}

export function isRunOpen({ status }: Run): boolean {
  return status === "running" || status === "paused";
}
