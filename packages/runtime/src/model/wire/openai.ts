import type { ReasoningEffort } from "@thinkery/sdk";
import type { ModelSettings } from "../model.ts";
import { findNearestEffort, getEffort } from "../reasoning.ts";

/** Whether an OpenAI model reasons. Those accept no temperature and return their reasoning only on request. */
export function isReasoner(model: string): boolean {
  if (/^o\d/.test(model)) return true;
  const version = model.match(/^gpt-(\d+)/)?.[1];
  return version !== undefined && Number(version) >= 5 && !model.includes("-chat");
}

/** Returns the `effort` of a request to an OpenAI model; undefined if it is not set or the model does not reason. */
export function createEffort(model: string, settings: ModelSettings | undefined): ReasoningEffort | undefined {
  const effort = getEffort(settings);
  return effort && isReasoner(model) ? findNearestEffort(effort, listEfforts(model)) : undefined;
}

/** Those of variants such as codex differ a little; an unsupported effort is an error of the provider. */
function listEfforts(model: string): readonly ReasoningEffort[] {
  const [, major = "5", minor = "0"] = model.match(/^gpt-(\d+)(?:\.(\d+))?/) ?? [];
  const version = Number(major) + Number(minor) / 100;
  if (!model.startsWith("gpt-")) return ["low", "medium", "high"];
  if (version >= 6) return ["low", "medium", "high", "xhigh", "max"];
  if (version >= 5.06) return ["none", "low", "medium", "high", "xhigh", "max"];
  if (version >= 5.02) return ["none", "low", "medium", "high", "xhigh"];
  return version >= 5.01 ? ["none", "low", "medium", "high"] : ["minimal", "low", "medium", "high"];
}
