import type { AgentActivity } from "../../agency/team/agent-activity.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import { isActive } from "../../store/subagent-row.ts";
import type { TurnRow } from "../../store/turns.ts";
import { summarizeUsage } from "../../store/usage.ts";

/** Returns what an agent is doing, for the other members of its agency. */
export function describeActivity(store: AgentStore): AgentActivity {
  const { total } = summarizeUsage(store.spending.readRows(""));
  const usage = {
    steps: total.calls,
    tokens: total.inputTokens + total.outputTokens,
    costUsd: total.costUsd,
  };
  return { ...describeTurn(store), ...usage };
}

function describeTurn(
  store: AgentStore,
): Pick<AgentActivity, "status" | "waitingFor" | "runId" | "tool" | "since" | "error"> {
  const { turns, messages, ledger, facts, subagents } = store;
  if (facts.getStoppedBy() !== undefined) return { status: "stopped" };
  const running = turns.getRunning();
  if (running) {
    const [call] = messages.listUnansweredCalls(running.id).filter(({ id }) => ledger.has(id));
    return { status: "working", ...describeStart(running), ...(call ? { tool: call.name } : {}) };
  }
  const paused = turns.getPaused();
  if (paused) {
    const waitingFor = waits[paused.pausedFor ?? ""] ?? "other";
    if (waitingFor !== "subagent") return { status: "waiting", waitingFor, ...describeStart(paused) };
    // Others work for it, unless all of them wait for a person.
    const working = subagents.list().filter(isActive);
    const asked = working.every((row) => row.waitingFor !== undefined) ? working[0]?.waitingFor : undefined;
    return asked === undefined
      ? { status: "working", waitingFor, ...describeStart(paused) }
      : { status: "waiting", waitingFor: asked, ...describeStart(paused) };
  }
  if (turns.countQueued() > 0 || subagents.list().some(isActive)) return { status: "working" };
  const last = turns.get(turns.getRun("").runId);
  if (last?.status === "error") return { status: "failed", runId: last.id, error: last.failure?.message ?? "" };
  return { status: "idle" };
}

const waits: Record<string, AgentActivity["waitingFor"]> = {
  hitl: "approval",
  input: "question",
  subagent: "subagent",
};

function describeStart({ id, startedAt }: TurnRow): Pick<AgentActivity, "runId" | "since"> {
  return { runId: id, ...(startedAt === undefined ? {} : { since: new Date(startedAt).toISOString() }) };
}
