import type { AgentUsage } from "@thinkery/sdk";
import { useEffect, useMemo } from "react";
import { call } from "../api/host.ts";
import { createSource, useSource } from "../api/source.ts";
import { cost, tokens } from "./amount.ts";

/** What the conversation has cost, asked for again after every turn. */
export function useUsage(agency: string, agent: string, turnsSeen: number): AgentUsage | undefined {
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
  return `${tokens(total.inputTokens)} tokens in, ${tokens(total.outputTokens)} out, ${cost(total.costUsd)}, in ${count === 1 ? "one turn" : `${count} turns`}`;
}
