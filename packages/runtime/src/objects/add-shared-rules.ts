import type { AgentAddress, Blueprint, Grant, PolicyRule } from "@thinkery/sdk";
import { selectGrants, selectRules } from "../policy/select-rules.ts";
import type { TurnDeps } from "../turn/turn-deps.ts";
import type { Env } from "./env.ts";

/** Adds the rules of the agency and the host that apply to an agent to those of its blueprint. */
export function addSharedRules(
  config: Blueprint["config"],
  { rules, grants }: { rules: readonly PolicyRule[]; grants: readonly Grant[] },
  env: Pick<Env, "POLICY">,
  address: AgentAddress,
): TurnDeps["config"] {
  const shared = selectRules([...rules, ...(env.POLICY ?? [])], address);
  const granted = selectGrants(grants, address);
  if (shared.length === 0 && granted.length === 0) return config;
  return { ...config, policy: [...(config?.policy ?? []), ...shared], grants: granted };
}
