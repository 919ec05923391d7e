import type { ReasoningEffort } from "@thinkery/sdk";
import type { ModelSettings } from "../../model.ts";
import { findNearestEffort, getEffort, getThinkingBudget } from "../../reasoning.ts";

interface Version {
  family: string;
  major: number;
  minor: number;
}

/** Parses names such as `claude-opus-4-1-20250805`: family, one or two version numbers, optional date. */
function parseVersion(model: string): Version | undefined {
  const [, family = "", major, minor = "0"] = model.match(/claude-([a-z]+)-(\d)(?:[-.](\d)(?!\d))?/) ?? [];
  return major === undefined ? undefined : { family, major: Number(major), minor: Number(minor) };
}

/** The output limit of a model. The API requires it, and rejects one that is too large. */
export function getMaxOutputTokens(model: string): number {
  const version = parseVersion(model);
  if (version) return version.family === "opus" && version.major === 4 && version.minor < 5 ? 32_000 : 64_000;
  if (/claude-3-[57]/.test(model)) return 8192;
  return 4096;
}

/** Opus 4.7 and later, and generation 5 and later, accept no temperature. */
export function supportsTemperature(model: string): boolean {
  const version = parseVersion(model);
  if (!version) return true;
  const { family, major, minor } = version;
  return major < 4 || (major === 4 && !(family === "opus" && minor >= 7));
}

interface Thinking {
  max_tokens: number;
  thinking?:
    | { type: "adaptive"; display: "summarized" }
    | { type: "enabled"; budget_tokens: number }
    | { type: "disabled" };
  output_config?: { effort: ReasoningEffort };
}

/** The API rejects smaller budgets. */
const minBudgetTokens = 1024;
/** Left of a model's output for its response. */
const minResponseTokens = 4096;

/** Returns the part of a request that says how much a model thinks and writes, in the form that its version accepts. */
export function createThinking(model: string, settings: ModelSettings | undefined): Thinking {
  const maxTokens = getMaxOutputTokens(model);
  const limit = { max_tokens: settings?.maxOutputTokens ?? maxTokens };
  const effort = getEffort(settings);
  const kind = getThinkingKind(model);
  if (!effort || kind === "none") return limit;
  if (effort === "none" && kind !== "always adaptive") return { ...limit, thinking: { type: "disabled" } };
  if (kind === "budget") {
    const budget = Math.max(minBudgetTokens, Math.min(getThinkingBudget(settings) ?? 0, maxTokens - minResponseTokens));
    // What the model thinks counts as output.
    const max_tokens = Math.max(budget + 1, Math.min(maxTokens, budget + limit.max_tokens));
    return { max_tokens, thinking: { type: "enabled", budget_tokens: budget } };
  }
  return {
    ...limit,
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: findNearestEffort(effort, listEfforts(model)) },
  };
}

/** Later models decide themselves how long they think; some cannot be told not to. Models before 3.7 cannot think. */
function getThinkingKind(model: string): "none" | "budget" | "adaptive" | "always adaptive" {
  const version = parseVersion(model);
  // Other models at servers with the same API, in the form that all of these know.
  if (!version) return /claude-(?!3-7)/.test(model) ? "none" : "budget";
  const { family, major, minor } = version;
  if (major < 4 || (major === 4 && minor < 6)) return "budget";
  if (family === "fable" || (major >= 5 && minor >= 5 && family !== "haiku")) return "always adaptive";
  return "adaptive";
}

const listEfforts = (model: string): readonly ReasoningEffort[] =>
  supportsTemperature(model) ? ["low", "medium", "high", "max"] : ["low", "medium", "high", "xhigh", "max"];
