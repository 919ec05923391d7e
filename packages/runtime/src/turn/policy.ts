import type { Blueprint, Tool } from "@thinkery/sdk";
import { isLike } from "../sandbox/wildcard.ts";

export type Config = NonNullable<Blueprint["config"]>;
type Rule = NonNullable<Config["policy"]>[number];

/** What the policy has to know of a tool. */
type Judged = Pick<Tool, "name" | "otherwise" | "matches" | "matchFor">;

export interface Decision {
  action: "deny" | "ask" | "allow";
  /** Why, where it is not simply allowed. */
  reason: string;
}

/** Deny before ask before allow; what no rule speaks of is allowed, but for tools that need a rule. */
export function decide(config: Config | undefined, tool: Judged, input: unknown): Decision {
  if (!config?.policy && !config?.hitl && tool.otherwise !== "deny") return { action: "allow", reason: "" };
  const { name } = tool;
  const rules = rulesFor(config?.policy ?? [], tool, input);
  const denied = rules.find(({ action }) => action === "deny");
  if (denied) return { action: "deny", reason: `The policy of this agent denies ${name}${whyDenied(denied, tool, input)}.` };
  const asks = rules.some(({ action }) => action === "ask") || (config?.hitl?.tools ?? []).includes(name);
  if (asks) return { action: "ask", reason: `${name} needs a person's approval, and approvals are not available here yet.` };
  if (rules.length === 0 && tool.otherwise === "deny") return { action: "deny", reason: `No rule of this agent allows ${name} to do this. ${wayOut(tool, input)}` };
  return { action: "allow", reason: "" };
}

function rulesFor(policy: readonly Rule[], tool: Judged, input: unknown): Rule[] {
  let text: string | undefined;
  const found = (match: string) => isLike((text ??= JSON.stringify(input) ?? ""), `*${match}*`);
  return policy.filter((rule) => {
    if (!isLike(tool.name, rule.tool)) return false;
    if (rule.match === undefined) return true;
    if (!tool.matches) return found(rule.match);
    return read(rule, tool, input) ?? matchesUnread(rule, tool, found);
  });
}

/**
 * A rule that this tool cannot read never allows. One that is meant for this tool alone forbids everything, because
 * nobody knows what it was to forbid; one for several tools may be clear to the others, and is looked for as text.
 */
function matchesUnread({ action, tool, match = "" }: Rule, { name }: Judged, found: (match: string) => boolean): boolean {
  return action !== "allow" && (tool === name || found(match));
}

// A tool's own code may throw.
function read({ match = "", action }: Rule, tool: Judged, input: unknown): boolean | undefined {
  try {
    return tool.matches?.(match, input, action);
  } catch {
    return undefined;
  }
}

function whyDenied(rule: Rule, tool: Judged, input: unknown): string {
  if (rule.match === undefined) return "";
  const isUnread = rule.tool === tool.name && tool.matches && read(rule, tool, input) === undefined;
  return isUnread ? `, because a rule for it cannot be read: ${JSON.stringify(rule.match)}` : " with such an input";
}

/** For the person who keeps the blueprint, and for the model to tell them. */
function wayOut(tool: Judged, input: unknown): string {
  const match = tool.matchFor?.(input);
  const rule = [`"tool": ${JSON.stringify(tool.name)}`, ...(match === undefined ? [] : [`"match": ${JSON.stringify(match)}`]), '"action": "allow"'];
  return `This rule in config.policy of its blueprint would: {${rule.join(", ")}}`;
}
