import type { Tool } from "@thinkery/sdk";
import { matchesWildcard } from "@thinkery/sdk/internal";

export type PolicyAction = "deny" | "ask" | "allow";

export interface PolicyRule {
  /** A tool's name; `*` matches anything. */
  tool: string;
  /** What the call's input must match. Without it, the rule applies to every call of the tool. */
  match?: string | undefined;
  action: PolicyAction;
}

/** The rules of one agent: those of its blueprint's `config`, its agency and its host. */
export interface PolicyRules {
  policy?: readonly PolicyRule[] | undefined;
  /** Tools whose every call needs a person's approval. */
  hitl?: { tools?: readonly string[] | undefined } | undefined;
  /** Calls that a person has approved for good. They lift rules that ask, never those that deny. */
  grants?: readonly Omit<PolicyRule, "action">[] | undefined;
}

/** What the policy needs to know about the called tool. */
export interface PolicyTool extends Pick<Tool, "name" | "defaultPolicy" | "ruleFor" | "needsApproval" | "matchesRule"> {
  /** The texts searched for a `match` that the tool does not interpret itself. Defaults to the input's JSON. */
  searchTexts?(input: unknown): readonly string[];
}

export interface PolicyCall {
  tool: PolicyTool;
  input: unknown;
}

export interface PolicyDecision {
  action: PolicyAction;
  /** Why the call is not allowed; empty if it is. */
  reason: string;
}

const allowDecision: PolicyDecision = { action: "allow", reason: "" };

/**
 * The only interpreter of rules, for calls of the model, calls made by code and commands in a shell. Deny wins over
 * ask, and ask over allow. A call that no rule matches is allowed, unless its tool needs a rule.
 */
export function evaluatePolicy(rules: PolicyRules | undefined, call: PolicyCall): PolicyDecision {
  const { tool } = call;
  const isRestricted = tool.defaultPolicy === "deny" || tool.needsApproval !== undefined;
  if (!rules?.policy && !rules?.hitl && !isRestricted) return allowDecision;
  const matching = findMatchingRules(rules?.policy ?? [], call);
  const denying = matching.find(({ action }) => action === "deny");
  if (denying) {
    return { action: "deny", reason: `The policy of this agent denies ${tool.name}${explainDenial(denying, call)}.` };
  }
  const asking = explainAsking(matching, rules, call);
  if (asking !== undefined && findMatchingRules(toRules(rules?.grants), call).length === 0) {
    return { action: "ask", reason: asking };
  }
  if (matching.length === 0 && tool.defaultPolicy === "deny") {
    return { action: "deny", reason: `No policy rule allows this call of ${tool.name}. ${suggestRule(call)}` };
  }
  return allowDecision;
}

function findMatchingRules(policy: readonly PolicyRule[], call: PolicyCall): PolicyRule[] {
  const { tool, input } = call;
  let texts: readonly string[] | undefined;
  const contains = (match: string) => {
    texts ??= tool.searchTexts?.(input) ?? [JSON.stringify(input) ?? ""];
    return texts.some((text) => matchesWildcard(text, `*${match}*`));
  };
  return policy.filter((rule) => {
    if (!matchesWildcard(tool.name, rule.tool)) return false;
    if (rule.match === undefined) return true;
    if (!tool.matchesRule) return contains(rule.match);
    return interpretRule(rule, call) ?? matchInvalidRule(rule, tool, contains);
  });
}

/**
 * A rule that is not valid for the tool never allows. If it names only this tool it forbids every call, because what it
 * was meant to forbid is unknown. A rule for several tools may be valid for the others, and is matched as text.
 */
function matchInvalidRule(rule: PolicyRule, { name }: PolicyTool, contains: (match: string) => boolean): boolean {
  return rule.action !== "allow" && (rule.tool === name || contains(rule.match ?? ""));
}

// A tool's own code may throw.
function interpretRule(
  { match = "", action, tool: ruleTool }: PolicyRule,
  { tool, input }: PolicyCall,
): boolean | undefined {
  try {
    return tool.matchesRule?.(match, input, action, ruleTool);
  } catch {
    return undefined;
  }
}

/** Returns why a call needs approval, or undefined if it needs none. */
function explainAsking(
  matching: readonly PolicyRule[],
  rules: PolicyRules | undefined,
  { tool, input }: PolicyCall,
): string | undefined {
  const rule = matching.find(({ action }) => action === "ask");
  if (rule) return rule.match === undefined ? `A rule asks about ${tool.name}.` : `A rule asks about “${rule.match}”.`;
  if (rules?.hitl?.tools?.includes(tool.name)) return `${tool.name} needs approval.`;
  return needsApproval(tool, input) ? `${tool.name} asks for approval.` : undefined;
}

/** A tool whose own check fails needs approval. */
function needsApproval(tool: PolicyTool, input: unknown): boolean {
  try {
    return tool.needsApproval?.(input) === true;
  } catch {
    return true;
  }
}

const toRules = (grants: PolicyRules["grants"] = []) => grants.map((grant) => ({ ...grant, action: "allow" as const }));

function explainDenial(rule: PolicyRule, call: PolicyCall): string {
  if (rule.match === undefined) return "";
  const { tool } = call;
  const isInvalid = rule.tool === tool.name && tool.matchesRule && interpretRule(rule, call) === undefined;
  return isInvalid ? `, because one of its rules is not valid: ${JSON.stringify(rule.match)}` : " with this input";
}

/** Written for the maintainer of the blueprint; the model can pass it on. */
function suggestRule({ tool, input }: PolicyCall): string {
  const match = tool.ruleFor?.(input);
  const fields = [
    `"tool": ${JSON.stringify(tool.name)}`,
    ...(match === undefined ? [] : [`"match": ${JSON.stringify(match)}`]),
    '"action": "allow"',
  ];
  return `To allow it, add this rule to config.policy of the agent's blueprint: {${fields.join(", ")}}`;
}
