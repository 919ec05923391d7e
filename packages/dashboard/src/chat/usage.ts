import type { AgentUsage, BudgetStatus } from "@thinkery/sdk";
import { useEffect, useMemo } from "react";
import { call } from "../api/host.ts";
import { createSource, useSource } from "../api/source.ts";
import { formatCost, formatCount, formatTokens } from "../parts/amount.ts";

export interface ConversationUsage extends AgentUsage {
  /** Every limit that holds for the agent. */
  budget: BudgetStatus[];
}

/** What the conversation has cost, asked for again after every turn. */
export function useUsage(agency: string, agent: string, turnsSeen: number): ConversationUsage | undefined {
  const source = useMemo(() => createSource(() => call("getUsage", { params: { agency, agent } })), [agency, agent]);
  useEffect(() => {
    if (turnsSeen > 0) void source.reload();
  }, [source, turnsSeen]);
  return useSource(source).value;
}

export function formatUsage({ total }: AgentUsage): string {
  return `${formatTokens(total.inputTokens + total.outputTokens)} tokens · ${formatCost(total.costUsd)}`;
}

export function formatUsageDetails({ total, turns }: AgentUsage): string {
  const count = turns.completed + turns.error + turns.canceled;
  const cached = total.cachedInputTokens ? ` (${formatTokens(total.cachedInputTokens)} from the cache)` : "";
  return `${formatTokens(total.inputTokens)} tokens in${cached}, ${formatTokens(total.outputTokens)} out, ${formatCost(total.costUsd)}, in ${count === 1 ? "one turn" : formatCount(count, "turn")}`;
}
