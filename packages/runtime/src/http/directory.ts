import {
  formatAgencyKey,
  formatAgentObjectName,
  fail,
  isThinkeryError,
  ownerUser,
  parseAgencyKey,
} from "@thinkery/sdk";
import type { Env } from "../objects/env.ts";
import { createChildStub } from "./child-stub.ts";
import { readSubPath } from "./sub-path.ts";

/**
 * Checks that an agency or agent exists and belongs to the caller, before its object is addressed: merely naming a
 * Durable Object creates it. Caches only positive results, and drops them on deletion in this isolate; other isolates
 * notice after at most `ttlMs`. Until then the object itself reports that it is gone.
 */
const ttlMs = 30_000;
const maxEntries = 50_000;
const accessCache = new Map<string, number>();

/** Returns one of the user's agencies. Throws if there is none with this id. */
export async function enterAgency(env: Env, user: string, agency: string) {
  const key = formatAgencyKey(user, agency);
  const exists = await checkWithCache(key, () => env.User.getByName(user).hasAgency(agency));
  if (!exists) throw fail("not_found", `Agency “${agency}” not found.`);
  return env.Agency.getByName(key);
}

/** Returns the name of an agent's object. Throws if the user has no such agent. */
export async function enterAgent(env: Env, user: string, agency: string, agent: string): Promise<string> {
  const entered = await enterAgency(env, user, agency);
  const name = formatAgentObjectName(formatAgencyKey(user, agency), agent);
  const exists = await checkWithCache(name, () => entered.hasAgent(agent));
  if (!exists) throw fail("not_found", `Agent “${agent}” not found in ${agency}.`);
  return name;
}

/**
 * Returns an agent, or undefined if there is none. For requests without a caller, which may name any user: nothing is
 * created if there is no such user.
 */
export async function findAgent(env: Env, user: string, agency: string, agent: string) {
  const hasUser = () => env.User.getByName(ownerUser).users.has(user);
  if (user !== ownerUser && !(await checkWithCache(formatAgencyKey(user, ""), hasUser))) return undefined;
  try {
    return env.Think.getByName(await enterAgent(env, user, agency, agent));
  } catch (error) {
    if (isThinkeryError(error) && error.code === "not_found") return undefined;
    throw error;
  }
}

/** A call to an endpoint of one agent. */
interface AgentCall {
  env: Env;
  caller: { user: string };
  request: Request;
  params: { agency: string; agent: string };
}

/** Returns the agent of a call, or the sub-agent. Throws if it does not exist or the caller has no access. */
export async function requireAgent(call: AgentCall, sub = readSubPath(call.request)) {
  const { env, caller, params } = call;
  const root = env.Think.getByName(await enterAgent(env, caller.user, params.agency, params.agent));
  return sub.length === 0 ? root : createChildStub(root, sub);
}

export function forgetAgent(user: string, agency: string, agent: string): void {
  accessCache.delete(formatAgentObjectName(formatAgencyKey(user, agency), agent));
}

export function forgetAgency(user: string, agency: string): void {
  const key = formatAgencyKey(user, agency);
  accessCache.delete(key);
  const prefix = formatAgentObjectName(key, "");
  for (const key of accessCache.keys()) if (key.startsWith(prefix)) accessCache.delete(key);
}

/** Forgets all agencies of a removed user, and their agents. */
export function forgetAgencies(user: string): void {
  for (const key of accessCache.keys()) {
    const [agency = ""] = key.split("~");
    if (parseAgencyKey(agency).user === user) accessCache.delete(key);
  }
}

async function checkWithCache(key: string, check: () => Promise<boolean>): Promise<boolean> {
  const now = Date.now();
  if ((accessCache.get(key) ?? 0) > now) return true;
  if (!(await check())) return false;
  if (accessCache.size >= maxEntries) accessCache.clear();
  accessCache.set(key, now + ttlMs);
  return true;
}
