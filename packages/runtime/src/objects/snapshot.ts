import type { AgentState, AgentStatus, AgentUsage, Run } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import { listChatMessages } from "../store/chat-messages.ts";
import { getFirstDay, summarizeUsage, toUsageFigures } from "../store/usage.ts";
import type { AgentParts } from "./assemble-agent.ts";
import { findPendingContinuation } from "./waits-feature.ts";

/** Creates the agent's state for clients of the Agents SDK's protocol. */
export function createStatus(store: AgentStore, agent: string): AgentStatus {
  const run = store.turns.getRun(agent);
  const title = store.facts.getTitle();
  const context = store.getContext();
  return {
    status: getActivity(store, run),
    run,
    queued: store.turns.countQueued(),
    ...(title ? { title } : {}),
    ...(context ? { context } : {}),
    ...readActivity(store, run),
  };
}

/** Returns what the running or paused turn works on and waits for. */
function readActivity(store: AgentStore, run: Run): Pick<AgentStatus, "activeFile" | "pendingContinuation"> {
  if (run.status !== "running" && run.status !== "paused") return {};
  const activeFile = store.ledger.findLastPath(run.runId);
  const pendingContinuation = findPendingContinuation(store);
  return { ...(activeFile ? { activeFile } : {}), ...(pendingContinuation ? { pendingContinuation } : {}) };
}

function getActivity(store: AgentStore, run: Run): AgentStatus["status"] {
  if (store.facts.getStoppedBy() !== undefined) return "stopped";
  if (run.status === "paused") return "waiting";
  if (run.status !== "running") return "idle";
  return store.messages.listUnansweredCalls(run.runId).length > 0 ? "executing" : "thinking";
}

export async function readState({
  store,
  registration,
  resolver,
  features,
  name,
}: AgentParts): Promise<{ state: AgentState; run: Run }> {
  const registered = registration.get();
  const { agent } = registered;
  const { tools, added } = await resolver.preview(registered);
  const title = store.facts.getTitle();
  const run = store.turns.getRun(name);
  // If no model is set, the one it used last.
  const model = agent.model ?? store.turns.get(run.runId)?.model;
  // Middleware cannot override our fields, even if we do not set them.
  const { title: _, model: __, context: ___, ...custom } = added;
  const context = store.getContext();
  return {
    state: {
      ...custom,
      ...Object.assign({}, ...features.map((feature) => feature.state?.())),
      messages: listChatMessages(store),
      tools: tools.definitions().map((tool) => ({ ...tool })),
      thread: {
        id: name,
        createdAt: agent.createdAt,
        agentType: agent.blueprint,
        agencyId: agent.agency,
        request: store.facts.getRequestContext(),
      },
      threadId: name,
      agentType: agent.blueprint,
      status: getActivity(store, run),
      ...(model ? { model } : {}),
      todos: store.facts.getTodos(),
      ...(title ? { title } : {}),
      ...(context ? { context } : {}),
      ...readActivity(store, run),
    },
    run,
  };
}

export function createUsage(store: AgentStore, days?: number): AgentUsage {
  const { spending, childSpending, turns, messages, log } = store;
  const since = getFirstDay(days, Date.now());
  const { seconds: _, ...subagents } = toUsageFigures(childSpending.sum({ since }));
  return {
    ...summarizeUsage(spending.readRows(since)),
    ...(subagents.calls > 0 ? { subagents } : {}),
    turns: turns.countByStatus(),
    messages: messages.count(),
    events: log.last,
  };
}
