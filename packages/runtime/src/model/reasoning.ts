import { type ReasoningEffort, reasoningEfforts } from "@thinkery/sdk";
import type { ModelSettings } from "./model.ts";

/** Tokens that each effort stands for, for models that take a budget. */
const budgets: Record<ReasoningEffort, number> = {
  none: 0,
  minimal: 1024,
  low: 4096,
  medium: 10_000,
  high: 24_000,
  xhigh: 48_000,
  max: Infinity,
};

/** Returns how much a request wants the model to think, if it says so. A budget counts as the effort it allows. */
export function getEffort({ reasoningEffort, thinkingBudget }: ModelSettings = {}): ReasoningEffort | undefined {
  if (thinkingBudget === undefined) return reasoningEffort;
  return reasoningEfforts.find((effort) => thinkingBudget <= budgets[effort]) ?? "max";
}

/** Returns how many tokens a request wants the model to think for, if it says so; Infinity for as many as possible. */
export function getThinkingBudget({ reasoningEffort, thinkingBudget }: ModelSettings = {}): number | undefined {
  return thinkingBudget ?? (reasoningEffort && budgets[reasoningEffort]);
}

/** Returns the level nearest to an effort that a model supports; of two, the lower. */
export function findNearestEffort<E extends ReasoningEffort>(effort: ReasoningEffort, supported: readonly E[]): E {
  const rank = (level: ReasoningEffort) => reasoningEfforts.indexOf(level);
  const distance = (level: E) => Math.abs(rank(level) - rank(effort));
  return supported.reduce((nearest, level) => (distance(level) < distance(nearest) ? level : nearest));
}
