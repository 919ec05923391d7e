import type { Tool } from "@thinkery/sdk";
import { matchesWildcard } from "@thinkery/sdk/internal";

export type PolicyAction = "deny" | "ask" | "allow";

export interface PolicyRule {
  /** A tool's name; `*` stands for anything. */
  tool: string;
  /** What the call must be about; without it the rule is about every call of the tool. */
  match?: string | undefined;
  action: PolicyAction;
}

/** The rules of one agent, as its blueprint's `config` holds them. */
export interface PolicyRules {
  policy?: readonly PolicyRule[] | undefined;
  /** Tools whose every call needs a person's approval. */
  hitl?: { tools?: readonly string[] | undefined } | undefined;
}

/** What the policy needs to know of the tool that is called. */
export interface PolicyTool extends Pick<Tool, "name" | "defaultPolicy" | "ruleFor"> {
  /** Returns whether a rule's `match` means this input, or undefined if the tool cannot read the rule. */
  matchesRule?(match: string, input: unknown, action: PolicyAction, ruleTool: string): boolean | undefined;
  /** Where a `match` is searched that the tool does not read itself; by default the input's JSON. */
  searchTexts?(input: unknown): readonly string[];
}

export interface PolicyCall {
  tool: PolicyTool;
  input: unknown;
}

export interface PolicyDecision {
  action: PolicyAction;
  /** Why the call is not simply allowed; empty if it is. */
  reason: string;
}

const allowDecision: PolicyDecision = { action: "allow", reason: "" };

/**
 * The only interpreter of rules, for calls of the model, calls made by code and commands in a shell. Deny wins over ask,
 * ask over allow. A call that no rule is about is allowed, unless its tool needs a rule.
 */
export function evaluatePolicy(rules: PolicyRules | undefined, call: PolicyCall): PolicyDecision {
  const { tool } = call;
  if (!rules?.policy && !rules?.hitl && tool.defaultPolicy !== "deny") return allowDecision;
  const matching = findMatchingRules(rules?.policy ?? [], call);
  const denying = matching.find(({ action }) => action === "deny");
  if (denying) {
    return { action: "deny", reason: `The policy of this agent denies ${tool.name}${explainDenial(denying, call)}.` };
  }
  if (matching.some(({ action }) => action === "ask") || rules?.hitl?.tools?.includes(tool.name)) {
    return {
      action: "ask",
      reason: `${tool.name} needs a person's approval, and approvals are not available here yet.`,
    };
  }
  if (matching.length === 0 && tool.defaultPolicy === "deny") {
    return { action: "deny", reason: `No rule of this agent allows ${tool.name} to do this. ${suggestRule(call)}` };
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
    return readRule(rule, call) ?? matchUnreadable(rule, tool, contains);
  });
}

/**
 * A rule that the tool cannot read never allows. If it names this tool alone it forbids everything, because nobody knows
 * what it was meant to forbid; a rule for several tools may be clear to the others and is searched for as text.
 */
function matchUnreadable(rule: PolicyRule, { name }: PolicyTool, contains: (match: string) => boolean): boolean {
  return rule.action !== "allow" && (rule.tool === name || contains(rule.match ?? ""));
}

// A tool's own code may throw.
function readRule(
  { match = "", action, tool: ruleTool }: PolicyRule,
  { tool, input }: PolicyCall,
): boolean | undefined {
  try {
    return tool.matchesRule?.(match, input, action, ruleTool);
  } catch {
    return undefined;
  }
}

function explainDenial(rule: PolicyRule, call: PolicyCall): string {
  if (rule.match === undefined) return "";
  const { tool } = call;
  const isUnreadable = rule.tool === tool.name && tool.matchesRule && readRule(rule, call) === undefined;
  return isUnreadable ? `, because a rule for it cannot be read: ${JSON.stringify(rule.match)}` : " with such an input";
}

/** For the person who maintains the blueprint, and for the model to tell them. */
function suggestRule({ tool, input }: PolicyCall): string {
  const match = tool.ruleFor?.(input);
  const fields = [
    `"tool": ${JSON.stringify(tool.name)}`,
    ...(match === undefined ? [] : [`"match": ${JSON.stringify(match)}`]),
    '"action": "allow"',
  ];
  return `This rule in config.policy of its blueprint would: {${fields.join(", ")}}`;
}
