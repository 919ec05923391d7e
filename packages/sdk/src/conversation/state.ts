import type { AgentEvent } from "../protocol/event.ts";
import type { AgentStatus, Run } from "../protocol/turn.ts";

/** An agent that nobody has said anything to, as far as is known. */
export const blankState: AgentStatus = { status: "idle", run: { runId: "", status: "idle", step: 0 }, queued: 0 };

/** What the agent would sync after this event. Its `status` is told in frames of its own. */
export function stateAfter(state: AgentStatus, event: AgentEvent): AgentStatus {
  switch (event.type) {
    case "request.accepted":
      return event.data.joined ? state : waiting(state, 1);
    case "message.requeued":
      return waiting(state, 1);
    case "run.started":
      return { ...waiting(state, -1), run: { runId: event.data.runId, status: "running", step: 1 } };
    case "run.tick":
      return running(state, event.data.runId, { step: event.data.step });
    case "run.paused":
      return running(state, event.data.runId, { status: "paused" });
    case "run.resumed":
      return running(state, event.data.runId, { status: "running" });
    case "agent.completed":
      return running(state, event.data.runId, { status: "completed" });
    case "agent.error":
      return running(state, event.data.runId, { status: "error", reason: event.data.error });
    case "run.canceled":
      return canceled(state, event.data.runId);
    case "model.completed":
      return event.data.context ? { ...state, context: event.data.context } : state;
    case "context.compacted":
      return state.context ? { ...state, context: { ...state.context, used: event.data.after } } : state;
    case "title.set":
      return { ...state, title: event.data.title };
    case "history.cleared":
      return blankState;
    default:
      return state;
  }
}

function running(state: AgentStatus, runId: string, part: Partial<Run>): AgentStatus {
  return state.run.runId === runId ? { ...state, run: { ...state.run, ...part } } : state;
}

function canceled(state: AgentStatus, runId: string): AgentStatus {
  if (state.run.runId === runId) return running(state, runId, { status: "canceled" });
  const left = waiting(state, -1);
  // It never began; but while nothing runs, the latest turn to end is where the agent stands.
  return isOpen(state.run) ? left : { ...left, run: { runId, status: "canceled", step: 0 } };
}

function waiting(state: AgentStatus, more: number): AgentStatus {
  const queued = Math.max(0, state.queued + more);
  // Before its first turn an agent stands where that one does.
  const run: Run = state.run.runId === "" ? { ...state.run, status: queued > 0 ? "registered" : "idle" } : state.run;
  return { ...state, queued, run };
}

export function isOpen({ status }: Run): boolean {
  return status === "running" || status === "paused";
}
