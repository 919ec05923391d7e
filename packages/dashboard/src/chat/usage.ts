import type { AgentUsage, Standing } from "@thinkery/sdk";
import { useEffect, useMemo } from "react";
import { call } from "../api/host.ts";
import { createSource, useSource } from "../api/source.ts";
import { cost, counted, tokens } from "../parts/amount.ts";

export interface UsageSoFar extends AgentUsage {
  /** Every limit that holds for the agent. */
  budget: Standing[];
}

/** What the conversation has cost, asked for again after every turn. */
export function useUsage(agency: string, agent: string, turnsSeen: number): UsageSoFar | undefined {
  const source = useMemo(() => createSource(() => call("getUsage", { params: { agency, agent } })), [agency, agent]);
  useEffect(() => {
    if (turnsSeen > 0) void source.reload();
  }, [source, turnsSeen]);
  return useSource(source).value;
}

export function usageLine({ total }: AgentUsage): string {
  return `${tokens(total.inputTokens + total.outputTokens)} tokens · ${cost(total.costUsd)}`;
}

export function usageInFull({ total, turns }: AgentUsage): string {
  const count = turns.completed + turns.error + turns.canceled;
  const cached = total.cachedInputTokens ? ` (${tokens(total.cachedInputTokens)} from the cache)` : "";
  return `${tokens(total.inputTokens)} tokens in${cached}, ${tokens(total.outputTokens)} out, ${cost(total.costUsd)}, in ${count === 1 ? "one turn" : counted(count, "turn")}`;
}
