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

export function formatUsage({ total }: AgentUsage): string {
  return `${formatTokens(total.inputTokens + total.outputTokens)} tokens · ${formatCost(total.costUsd)}`;
}

export function formatUsageDetails({ total, turns }: AgentUsage): string {
  const count = turns.completed + turns.error + turns.canceled;
  const cached = total.cachedInputTokens ? ` (${formatTokens(total.cachedInputTokens)} cached)` : "";
  return `${formatTokens(total.inputTokens)} tokens in${cached}, ${formatTokens(total.outputTokens)} out, ${formatCost(total.costUsd)}, ${formatCount(count, "turn")}`;
}
