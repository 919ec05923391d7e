import type { Agent as AgentInfo, AgentExport, AgentState, AgentStatus, AgentUsage, Run } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import { firstOf, reportOf } from "../store/spent.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import { chatMessages } from "../turn/chat-messages.ts";
import { infoOf } from "./app.ts";

/** What a client sees of an agent at a glance. */
export function statusOf(store: AgentStore, agent: string): AgentStatus {
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

export function wholeState(
  store: AgentStore,
  agent: AgentInfo,
  object: string,
  tools: Toolbox,
  added: Record<string, unknown>,
): { state: AgentState; run: Run } {
  const title = store.facts.title();
  const run = store.turns.run(object);
  // What it thought with last, where nobody chose.
  const model = agent.model ?? store.turns.get(run.runId)?.model;
  // What middleware adds cannot take the place of what is ours, even where we have nothing to say.
  const { title: _, model: __, context: ___, ...more } = added;
  const context = store.context();
  return {
    state: {
      ...more,
      messages: chatMessages(store),
      tools: tools.definitions().map((tool) => ({ ...tool })),
      thread: {
        id: object,
        createdAt: agent.createdAt,
        agentType: agent.blueprint,
        agencyId: agent.agency,
        request: store.facts.request(),
      },
      threadId: object,
      agentType: agent.blueprint,
      ...(model ? { model } : {}),
      todos: store.facts.todos(),
      ...(title ? { title } : {}),
      ...(context ? { context } : {}),
    },
    run,
  };
}

export function wholeUsage({ spending, turns, messages, log }: AgentStore, days?: number): AgentUsage {
  return { ...reportOf(spending.rows(firstOf(days, Date.now()))), turns: turns.tally(), messages: messages.count(), events: log.last };
}

export function exported(store: AgentStore, agent: AgentInfo, object: string): AgentExport {
  const title = store.facts.title();
  const app = store.facts.app();
  const all = Number.MAX_SAFE_INTEGER;
  return {
    format: "thinkery-agent",
    version: 1,
    agent,
    ...(title ? { title } : {}),
    todos: store.facts.todos(),
    ...(app ? { app: infoOf(object, app) } : {}),
    run: store.turns.run(object),
    messages: store.messages.page({ limit: all - 1 }, all).messages,
    events: store.log.read(0, all, all),
    actions: store.actions.page({ limit: all - 1 }).actions,
    usage: wholeUsage(store),
  };
}
