import type { AgentExport, AgentState, AgentStatus, AgentUsage, Run } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import { chatMessages } from "../store/chat-messages.ts";
import { firstOf, reportOf } from "../store/spent.ts";
import type { AgentParts } from "./assemble-agent.ts";

/** Creates what clients of the Agents SDK's protocol see of an agent. */
export function createStatus(store: AgentStore, agent: string): AgentStatus {
  const run = store.turns.run(agent);
  const title = store.facts.title();
  const context = store.context();
  return { status: activity(store, run), run, queued: store.turns.queued(), ...(title ? { title } : {}), ...(context ? { context } : {}) };
}

function activity(store: AgentStore, run: Run): AgentStatus["status"] {
  if (run.status === "paused") return "waiting";
  if (run.status !== "running") return "idle";
  return store.messages.unanswered(run.runId).length > 0 ? "executing" : "thinking";
}

export async function readState({ store, registration, resolver, features, name }: AgentParts): Promise<{ state: AgentState; run: Run }> {
  const registered = registration.get();
  const { agent } = registered;
  const { tools, added } = await resolver.preview(registered);
  const title = store.facts.title();
  const run = store.turns.run(name);
  // What it thought with last, where nobody chose.
  const model = agent.model ?? store.turns.get(run.runId)?.model;
  // What middleware adds cannot take the place of what is ours, even where we have nothing to say.
  const { title: _, model: __, context: ___, ...more } = added;
  const context = store.context();
  return {
    state: {
      ...more,
      ...Object.assign({}, ...features.map((feature) => feature.state?.())),
      messages: chatMessages(store),
      tools: tools.definitions().map((tool) => ({ ...tool })),
      thread: {
        id: name,
        createdAt: agent.createdAt,
        agentType: agent.blueprint,
        agencyId: agent.agency,
        request: store.facts.request(),
      },
      threadId: name,
      agentType: agent.blueprint,
      ...(model ? { model } : {}),
      todos: store.facts.todos(),
      ...(title ? { title } : {}),
      ...(context ? { context } : {}),
    },
    run,
  };
}

export function createUsage({ spending, turns, messages, log }: AgentStore, days?: number): AgentUsage {
  return { ...reportOf(spending.rows(firstOf(days, Date.now()))), turns: turns.tally(), messages: messages.count(), events: log.last };
}

export function createExport({ store, registration, features, name }: AgentParts): AgentExport {
  const title = store.facts.title();
  const all = Number.MAX_SAFE_INTEGER;
  return {
    format: "thinkery-agent",
    version: 1,
    agent: registration.get().agent,
    ...(title ? { title } : {}),
    todos: store.facts.todos(),
    ...Object.assign({}, ...features.map((feature) => feature.export?.())),
    run: store.turns.run(name),
    messages: store.messages.page({ limit: all - 1 }, all).messages,
    events: store.log.read(0, all, all),
    actions: store.actions.page({ limit: all - 1 }).actions,
    usage: createUsage(store),
  };
}
