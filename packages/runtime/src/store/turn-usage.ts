import type { SubagentUsage, UsageTotal } from "@thinkery/sdk";
import { roundUsd } from "@thinkery/sdk/internal";
import type { AgentStore } from "./agent-store.ts";
import { toUsageTotal } from "./usage.ts";

/** Returns what a sub-agent has spent on the turn of its task, as its parent gets to know it. */
export function getTaskUsage(store: AgentStore, turn: string): SubagentUsage {
  const { calls, inputTokens, outputTokens, costUsd } = getTurnUsage(store, turn);
  return { calls, inputTokens, outputTokens, costUsd };
}

/** Returns the usage of a turn, including that of the sub-agents it delegated to. */
export function getTurnUsage(store: AgentStore, turn: string): UsageTotal & SubagentUsage {
  const amounts = store.calls.getTurnAmounts(turn);
  const own = toUsageTotal(amounts);
  const children = store.subagents.sumUsage(turn);
  return {
    ...own,
    calls: amounts.calls + children.calls,
    inputTokens: own.inputTokens + children.inputTokens,
    outputTokens: own.outputTokens + children.outputTokens,
    costUsd: own.costUsd === null || children.costUsd === null ? null : roundUsd(own.costUsd + children.costUsd),
  };
}
