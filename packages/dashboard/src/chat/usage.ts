import type { AgentUsage, BudgetStatus } from "@thinkery/sdk";
import { useEffect, useMemo } from "react";
import { call } from "../api/host.ts";
import { createSource, useSource } from "../api/source.ts";
import { formatCost, formatCount, formatTokens } from "../parts/amount.ts";

export interface ConversationUsage extends AgentUsage {
  /** Every limit that applies to the agent. */
  budget: BudgetStatus[];
}

/** Usage of the conversation, reloaded after every turn. */
export function useUsage(agency: string, agent: string, turnCount: number): ConversationUsage | undefined {
  const source = useMemo(() => createSource(() => call("getUsage", { params: { agency, agent } })), [agency, agent]);
  useEffect(() => {
    if (turnCount > 0) void source.reload();
  }, [source, turnCount]);
  return useSource(source).value;
}

/** Formats what the agent and its sub-agents have used. */
export function formatUsage({ total, subagents }: AgentUsage): string {
  const parts = subagents ? [total, subagents] : [total];
  const tokens = parts.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
  // One unknown price makes the sum unknown.
  const cost = parts.reduce<number | null>(
    (sum, { costUsd }) => (sum === null || costUsd === null ? null : sum + costUsd),
    0,
  );
  return `${formatTokens(tokens)} tokens · ${formatCost(cost)}`;
}

export function formatUsageDetails({ total, turns, subagents }: AgentUsage): string {
  const count = turns.completed + turns.error + turns.canceled;
  const cached = total.cachedInputTokens ? ` (${formatTokens(total.cachedInputTokens)} cached)` : "";
  return `${formatTokens(total.inputTokens)} tokens in${cached}, ${formatTokens(total.outputTokens)} out, ${formatCost(total.costUsd)}, ${formatCount(count, "turn")}${formatSubagents(subagents)}`;
}

function formatSubagents(subagents: AgentUsage["subagents"]): string {
  if (!subagents) return "";
  const tokens = formatTokens(subagents.inputTokens + subagents.outputTokens);
  return `; sub-agents ${tokens} tokens, ${formatCost(subagents.costUsd)}`;
}
