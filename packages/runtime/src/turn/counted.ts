import type { UsageTotal } from "@thinkery/sdk";
import type { Usage } from "../model/model.ts";

/** No call has more tokens; what says so is broken. */
const most = 1_000_000_000;

/** What a call used and cost, fit to be added up: whatever a provider or a table of prices says, no sum becomes nonsense by it. */
export function counted(usage: Usage | undefined, costOf: (usage: Usage) => number | undefined): UsageTotal {
  if (!usage) return { inputTokens: 0, outputTokens: 0, costUsd: null };
  const tokens = (value: number) => (value > 0 ? Math.min(Math.round(value), most) : 0);
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage;
  const sane: Usage = {
    inputTokens: tokens(inputTokens),
    outputTokens: tokens(outputTokens),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens: tokens(cachedInputTokens) }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens: tokens(reasoningTokens) }),
  };
  return { ...sane, costUsd: costOf(sane) ?? null };
}
