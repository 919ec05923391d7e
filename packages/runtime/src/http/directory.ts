import { formatAgentObjectName, fail } from "@thinkery/sdk";
import type { Env } from "../objects/env.ts";

/**
 * Checks that an agency or agent exists and belongs to the caller, before its object is addressed: merely naming a
 * Durable Object creates it. Caches only positive results, and drops them on deletion in this isolate; other isolates
 * notice after at most `ttlMs`. Until then the object itself reports that it is gone.
 */
const ttlMs = 30_000;
const maxEntries = 50_000;
const accessCache = new Map<string, number>();

export async function enterAgency(env: Env, user: string, agency: string): Promise<void> {
  const exists = await checkWithCache(`${user} ${agency}`, () => env.User.getByName(user).hasAgency(agency));
  if (!exists) throw fail("not_found", `Agency “${agency}” not found.`);
}

export async function enterAgent(env: Env, user: string, agency: string, agent: string): Promise<void> {
  await enterAgency(env, user, agency);
  const exists = await checkWithCache(formatAgentObjectName(agency, agent), () =>
    env.Agency.getByName(agency).hasAgent(agent),
  );
  if (!exists) throw fail("not_found", `Agent “${agent}” not found in ${agency}.`);
}

/** A call to an endpoint of one agent. */
interface AgentCall {
  env: Env;
  caller: { user: string };
  params: { agency: string; agent: string };
}

/** Returns the agent of a call. Throws if it does not exist or the caller has no access. */
export async function requireAgent({ env, caller, params: { agency, agent } }: AgentCall) {
  await enterAgent(env, caller.user, agency, agent);
  return env.Think.getByName(formatAgentObjectName(agency, agent));
}

export function forgetAgent(agency: string, agent: string): void {
  accessCache.delete(formatAgentObjectName(agency, agent));
}

export function forgetAgency(user: string, agency: string): void {
  accessCache.delete(`${user} ${agency}`);
  const prefix = formatAgentObjectName(agency, "");
  for (const key of accessCache.keys()) if (key.startsWith(prefix)) accessCache.delete(key);
}

async function checkWithCache(key: string, check: () => Promise<boolean>): Promise<boolean> {
  const now = Date.now();
  if ((accessCache.get(key) ?? 0) > now) return true;
  if (!(await check())) return false;
  if (accessCache.size >= maxEntries) accessCache.clear();
  accessCache.set(key, now + ttlMs);
  return true;
}
