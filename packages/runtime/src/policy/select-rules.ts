import { type AgentAddress, formatAddress, type Grant, parseAgencyKey, type PolicyRule } from "@thinkery/sdk";
import { matchesWildcard } from "@thinkery/sdk/internal";

/** Returns the rules that apply to an agent. One for an agent also applies to everyone below it. */
export function selectRules(rules: readonly PolicyRule[], { agency, path }: AgentAddress): PolicyRule[] {
  const { id } = parseAgencyKey(agency);
  const ancestors = path.map((_, index) => path.slice(0, index + 1).join("/"));
  return rules.filter(
    (rule) =>
      (rule.agency === undefined || matchesWildcard(id, rule.agency)) &&
      (rule.agent === undefined || ancestors.some((ancestor) => matchesWildcard(ancestor, rule.agent ?? ""))),
  );
}

/** Returns the grants that apply to an agent: those for all agents, for itself, or for one above it. */
export function selectGrants(grants: readonly Grant[], address: AgentAddress): Grant[] {
  const name = formatAddress(address);
  return grants.filter(({ agent }) => agent === undefined || agent === name || name.startsWith(`${agent}/`));
}
