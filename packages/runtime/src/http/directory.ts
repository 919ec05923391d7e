import { formatAgentObjectName, fail } from "@thinkery/sdk";
import type { Env } from "../objects/env.ts";

/**
 * Who may enter where, and does it exist? Asked before an object is reached by name, because merely naming a
 * Durable Object creates it. Only yeses are remembered, and what is deleted here is forgotten here; another
 * isolate notices after `ttlMs` at the latest. Until then the object itself says that it is gone.
 */
const ttlMs = 30_000;
const maxEntries = 50_000;
const accessCache = new Map<string, number>();

export async function enterAgency(env: Env, user: string, agency: string): Promise<void> {
  const known = await checkWithCache(`${user} ${agency}`, () => env.User.getByName(user).hasAgency(agency));
  if (!known) throw fail("not_found", `You have no agency “${agency}”.`);
}

export async function enterAgent(env: Env, user: string, agency: string, agent: string): Promise<void> {
  await enterAgency(env, user, agency);
  const known = await checkWithCache(formatAgentObjectName(agency, agent), () =>
    env.Agency.getByName(agency).hasAgent(agent),
  );
  if (!known) throw fail("not_found", `There is no agent “${agent}” in ${agency}.`);
}

/** A call that is about one agent. */
interface AgentCall {
  env: Env;
  caller: { user: string };
  params: { agency: string; agent: string };
}

/** The agent that a call is about, where its caller may enter. */
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

async function checkWithCache(key: string, ask: () => Promise<boolean>): Promise<boolean> {
  const now = Date.now();
  if ((accessCache.get(key) ?? 0) > now) return true;
  if (!(await ask())) return false;
  if (accessCache.size >= maxEntries) accessCache.clear();
  accessCache.set(key, now + ttlMs);
  return true;
}
