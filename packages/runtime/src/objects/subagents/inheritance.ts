import type { Blueprint, Props, ReasoningEffort } from "@thinkery/sdk";
import type { System } from "../../system/system.ts";
import { serveApp } from "../../tools/serve-app.ts";
import type { Assignment } from "./assignment.ts";

/**
 * Returns what a sub-agent gets of its parent: props, except for budget and main model, and the rules that deny or ask.
 * `effort` is how much its main model thinks.
 */
export function selectInherited(config: Blueprint["config"], inherited: Props, effort?: ReasoningEffort) {
  const { budget: _, models, reasoning, ...props } = inherited;
  const { primary: __, ...roles } = models ?? {};
  const { primary: ___, ...efforts } = { ...reasoning };
  const childReasoning = { ...efforts, ...(effort ? { primary: effort } : {}) };
  return {
    props: {
      ...props,
      ...(Object.keys(roles).length > 0 ? { models: roles } : {}),
      ...(Object.keys(childReasoning).length > 0 ? { reasoning: childReasoning } : {}),
    } satisfies Props,
    policy: (config?.policy ?? []).filter(({ action }) => action !== "allow"),
    hitlTools: [...(config?.hitl?.tools ?? [])],
  };
}

/** A parent's rules that deny or ask bind its sub-agents, whatever their own blueprints allow. */
export function inheritPolicy(config: Blueprint["config"], { policy, hitlTools }: Assignment): Blueprint["config"] {
  if (policy.length === 0 && hitlTools.length === 0) return config;
  const tools = [...new Set([...(config?.hitl?.tools ?? []), ...hitlTools])];
  return {
    ...config,
    policy: [...(config?.policy ?? []), ...policy],
    ...(tools.length > 0 ? { hitl: { ...config?.hitl, tools } } : {}),
  };
}

/** A sub-agent has no address of its own at which an app could respond. */
export const withoutApps = (system: System): System => ({
  ...system,
  tools: system.tools.filter(({ value }) => value !== serveApp),
});
