import type { AgencyToolDefinition, Grant, PolicyRule, Variables } from "@thinkery/sdk";
import type { AgentRegistry } from "../agency/agents.ts";
import type { Blueprints } from "../agency/blueprints.ts";
import type { AgencyPolicy } from "../agency/policy.ts";
import { type SubagentTypeInfo, toType } from "../agency/subagent-types.ts";
import type { TeamInfo } from "../agency/team/team-prompt.ts";
import type { AgencyUsageTotals } from "../agency/usage-totals.ts";
import type { ToolProvider } from "../tools/provided-tools.ts";
import type { AgencyPackages } from "./agency-packages.ts";

/** What an agency says about the next turn of any of its agents. */
export interface ResolvedByAgency {
  metered: boolean;
  types: SubagentTypeInfo[];
  rules: PolicyRule[];
  grants: Grant[];
  /** The tools that agents of the agency provide. */
  provided: ToolProvider[];
  /** The tools that the agency gives to the agent. */
  tools: AgencyToolDefinition[];
  /** The other members, if the agent works with them. */
  team?: TeamInfo;
  /** Whether the agent could write to others. */
  hasOthers?: boolean;
  /** Variables of the agency, for the prompts of its blueprints. */
  vars?: Variables;
  /** Whether the agency wants to know what its agents do. */
  watched: boolean;
}

interface RuleSources {
  blueprints: Blueprints;
  policy: AgencyPolicy;
  usage: AgencyUsageTotals;
  agents: AgentRegistry;
  packages: AgencyPackages;
  team: TeamInfo | undefined;
  tools: AgencyToolDefinition[];
  vars: Variables;
  isWatched: boolean;
}

/** Returns what an agency says about the next turn of an agent, whatever its blueprint. */
export function resolveRules({
  blueprints,
  policy,
  usage,
  agents,
  packages,
  team,
  tools,
  vars,
  isWatched,
}: RuleSources): ResolvedByAgency {
  return {
    metered: usage.isMetered,
    types: blueprints.list().map((blueprint) => toType(blueprint)),
    rules: policy.get().rules,
    grants: policy.listGrants(),
    provided: packages.listProviders(),
    tools,
    ...(team ? { team } : {}),
    ...(agents.count() > 1 ? { hasOthers: true } : {}),
    ...(Object.keys(vars).length > 0 ? { vars } : {}),
    watched: isWatched,
  };
}
