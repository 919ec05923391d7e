import type { Blueprint } from "@thinkery/sdk";

type Config = NonNullable<Blueprint["config"]>;
type Rule = NonNullable<Config["policy"]>[number];

export interface Decision {
  action: "deny" | "ask" | "allow";
  /** Why, where it is not simply allowed. */
  reason: string;
}

/** Deny before ask before allow; what no rule speaks of is allowed. */
export function decide(config: Config | undefined, tool: string, input: unknown): Decision {
  if (!config?.policy && !config?.hitl) return { action: "allow", reason: "" };
  const text = JSON.stringify(input) ?? "";
  const rules = (config.policy ?? []).filter((rule) => applies(rule, tool, text));
  const denied = rules.find(({ action }) => action === "deny");
  if (denied) return { action: "deny", reason: `The policy of this agent denies ${tool}${denied.match ? " with such an input" : ""}.` };
  const asks = rules.some(({ action }) => action === "ask") || (config.hitl?.tools ?? []).includes(tool);
  if (asks) return { action: "ask", reason: `${tool} needs a person's approval, and approvals are not available here yet.` };
  return { action: "allow", reason: "" };
}

function applies(rule: Rule, tool: string, input: string): boolean {
  return wildcard(rule.tool).test(tool) && (rule.match === undefined || wildcard(`*${rule.match}*`).test(input));
}

const patterns = new Map<string, RegExp>();

/** `*` stands for anything; everything else for itself. */
function wildcard(pattern: string): RegExp {
  let compiled = patterns.get(pattern);
  if (!compiled) {
    const source = pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*+/g, "[\\s\\S]*");
    compiled = new RegExp(`^${source}$`);
    if (patterns.size > 1000) patterns.clear();
    patterns.set(pattern, compiled);
  }
  return compiled;
}
