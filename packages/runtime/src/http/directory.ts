import {
  formatAgencyKey,
  formatAgentObjectName,
  fail,
  intersectScopes,
  isThinkeryError,
  ownerUser,
  parseAgencyKey,
  parseAgencyRef,
  type Scope,
} from "@thinkery/sdk";
import type { Env } from "../objects/env.ts";
import type { Caller } from "./authenticate.ts";
import { createChildStub } from "./child-stub.ts";
import { readSubPath } from "./sub-path.ts";

/**
 * Checks that an agency or agent exists and that the caller may enter it, before its object is addressed: merely naming
 * a Durable Object creates it. Caches only positive results, and drops them on deletion in this isolate; other isolates
 * notice after at most `ttlMs`. Until then the object itself reports that it is gone.
 */
const ttlMs = 30_000;
const maxEntries = 50_000;
const accessCache = new Map<string, number>();
/** What members of agencies may do there, by the agency's key and the user. */
const membershipCache = new Map<string, { scopes: readonly Scope[]; until: number }>();
/** How often something was dropped from the caches. What was asked before may be outdated by now. */
let forgetCount = 0;

/**
 * Returns an agency: `review` is the user's own, `review@bob` one of Bob's that the user is a member of. Throws if there
 * is none, in the same words whether it does not exist or the user is no member. What a member may do there,
 * `narrowCaller` says.
 */
export async function enterAgency(env: Env, user: string, agency: string) {
  const { id, user: owner, key } = parseAgencyRef(user, agency);
  const mayEnter =
    owner === user
      ? await checkWithCache(key, () => env.User.getByName(user).hasAgency(id))
      : (await findMembership(env, user, key)) !== undefined;
  if (!mayEnter) throw createMissingError(agency);
  return env.Agency.getByName(key);
}

/**
 * Returns the caller with the scopes they have in an agency: those of their credential, and in an agency of another
 * user only what its members may do as well. Throws if the caller is no member, as if there were no such agency.
 */
export async function narrowCaller(env: Env, caller: Caller, agency: string): Promise<Caller> {
  const { user: owner, key } = parseAgencyRef(caller.user, agency);
  if (owner === caller.user) return caller;
  const member = await findMember(env, caller, key);
  if (!member) throw createMissingError(agency);
  return member;
}

/** Returns the caller as a member of the agency with this key, or undefined if they are none. */
export async function findMember(env: Env, caller: Caller, key: string): Promise<Caller | undefined> {
  const scopes = await findMembership(env, caller.user, key);
  return scopes && { ...caller, scopes: intersectScopes(caller.scopes, scopes), isMember: true };
}

/**
 * The user's own object is asked first, so that asking about agencies of others reaches nothing of theirs. The agency
 * has to agree: whichever of the two hears of the end first ends the membership.
 */
async function findMembership(env: Env, user: string, key: string): Promise<readonly Scope[] | undefined> {
  const cacheKey = formatMembershipKey(key, user);
  const cached = membershipCache.get(cacheKey);
  if (cached && cached.until > Date.now()) return cached.scopes;
  const askedAt = forgetCount;
  const granted = await env.User.getByName(user).shared.getScopes(key);
  const listed = granted && (await env.Agency.getByName(key).members.getScopes(user));
  if (!listed) return undefined;
  const scopes = intersectScopes(granted, listed);
  if (forgetCount !== askedAt) return scopes;
  if (membershipCache.size >= maxEntries) membershipCache.clear();
  membershipCache.set(cacheKey, { scopes, until: Date.now() + ttlMs });
  return scopes;
}

const formatMembershipKey = (agencyKey: string, user: string) => `${agencyKey} ${user}`;

const createMissingError = (agency: string) => fail("not_found", `Agency “${agency}” not found.`);

/** Returns the name of an agent's object. Throws if the user has no such agent. */
export async function enterAgent(env: Env, user: string, agency: string, agent: string): Promise<string> {
  const entered = await enterAgency(env, user, agency);
  const name = formatAgentObjectName(parseAgencyRef(user, agency).key, agent);
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
  accessCache.delete(formatAgentObjectName(parseAgencyRef(user, agency).key, agent));
}

export function forgetAgency(user: string, agency: string): void {
  const { key } = parseAgencyRef(user, agency);
  forgetIf((other) => other === key);
}

/** Forgets all agencies of a removed user with their agents, and what the user may do in those of others. */
export function forgetAgencies(user: string): void {
  forgetIf((key, member) => member === user || parseAgencyKey(key).user === user);
}

/** Forgets what a member may do in an agency of the user. */
export function forgetMember(user: string, agency: string, member: string): void {
  forgetCount++;
  membershipCache.delete(formatMembershipKey(parseAgencyRef(user, agency).key, member));
}

/** Forgets agencies, with their agents and members, or only memberships of a user. */
function forgetIf(isOutdated: (agencyKey: string, member?: string) => boolean): void {
  forgetCount++;
  for (const name of accessCache.keys()) {
    const [key = ""] = name.split("~");
    if (isOutdated(key)) accessCache.delete(name);
  }
  for (const name of membershipCache.keys()) {
    const [key = "", member] = name.split(" ");
    if (isOutdated(key, member)) membershipCache.delete(name);
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
