import { fail, ownerUser, type Scope, scopes, type Who } from "@thinkery/sdk";
import { type Credential, formatMembership } from "../objects/credential-watch.ts";
import type { Env } from "../objects/env.ts";
import { type CheckedCredential, isUsable, type Presentation } from "../user/credentials.ts";
import { isSameText, sha256, verifyCredential } from "./credentials.ts";
import { readPageSecret } from "./page-secret.ts";
import { readSubPath, splitSubPath } from "./sub-path.ts";

/** The authenticated user, and how they presented their credential. */
export interface Caller extends Pick<Who, "user" | "scopes"> {
  via: "header" | "cookie" | "ticket";
  /** The hash of a credential that can be revoked or expire, which the admin token cannot. */
  hash?: string;
  /** Whether the request is for an agency of another user. `scopes` are then what this member may do there. */
  isMember?: boolean;
}

// Calling the user's object for every request would cost more than the request. A revocation in this isolate takes
// effect at once, one in another isolate after at most `ttlMs`.
const ttlMs = 10_000;
const maxEntries = 10_000;
const callerCache = new Map<string, CachedCredential>();
/** How often credentials were dropped from the cache. What was asked before may be revoked by now. */
let forgetCount = 0;

interface CachedCredential {
  user: string;
  credential: CheckedCredential;
  until: number;
  /** Requests that its user's object still allows. */
  requests: number;
}

/** Holds the ticket of a request, which comes in its query. */
export const ticketHeader = "x-thinkery-ticket";

const allScopes: Scope[] = [...scopes];

/**
 * Returns the caller, or undefined if there is no valid credential. `adminSecret` is accepted like the host's admin
 * token.
 */
export async function authenticate(request: Request, env: Env, adminSecret?: string): Promise<Caller | undefined> {
  const presented = readCredential(request, env.COOKIE_NAME);
  if (!presented) return undefined;
  const { secret, via } = presented;
  const hash = sha256(secret);
  if (via === "ticket") return redeemTicket(request, env, secret, hash);
  if (via === "header" && isAdminToken(hash, env, adminSecret)) return { user: ownerUser, scopes: allScopes, via };
  const found = await findCredential(
    secret,
    hash,
    via === "header" ? { via } : { via, pageHash: hashPageSecret(request) },
    env,
  );
  return found && { user: found.user, scopes: found.credential.scopes, via, hash };
}

function isAdminToken(hash: string, env: Env, adminSecret: string | undefined): boolean {
  if (isSameText(hash, env.ADMIN_TOKEN_HASH)) return true;
  return adminSecret !== undefined && adminSecret !== "" && isSameText(hash, sha256(adminSecret));
}

/** Returns a valid credential, and counts the request. One that may not be used like that is not even counted. */
async function findCredential(
  secret: string,
  hash: string,
  presented: Presentation,
  env: Env,
): Promise<{ user: string; credential: CheckedCredential } | undefined> {
  const cached = findCached(hash);
  if (cached && !isUsable(cached.credential, presented)) return undefined;
  if (cached && cached.requests > 0) {
    cached.requests--;
    return cached;
  }
  const user = verifyCredential(secret, env.SIGNING_KEY);
  const askedAt = forgetCount;
  const credential = user && (await env.User.getByName(user).credentials.check(hash, presented));
  if (!user || !credential) return undefined;
  if (forgetCount !== askedAt) return { user, credential };
  if (callerCache.size >= maxEntries) callerCache.clear();
  const until = Math.min(Date.now() + ttlMs, credential.expiresAt ?? Infinity);
  // One of them is this request. Others that asked at the same time were granted some, too.
  const requests = credential.requests - 1 + (findCached(hash)?.requests ?? 0);
  callerCache.set(hash, { user, credential, until, requests });
  return { user, credential };
}

function findCached(hash: string): CachedCredential | undefined {
  const cached = callerCache.get(hash);
  return cached && cached.until > Date.now() ? cached : undefined;
}

/** Only the origin of the page that logged in can read the page secret. */
function hashPageSecret(request: Request): string | undefined {
  const pageSecret = readPageSecret(request);
  return pageSecret === undefined ? undefined : sha256(pageSecret);
}

async function redeemTicket(request: Request, env: Env, secret: string, hash: string): Promise<Caller | undefined> {
  if (request.method !== "GET" && request.method !== "HEAD") return undefined;
  const user = verifyCredential(secret, env.SIGNING_KEY);
  const ticket =
    user && (await env.User.getByName(user).tickets.redeem(hash, toTicketPath(request.url, readSubPath(request))));
  if (!user || !ticket) return undefined;
  // A stream that it opens ends with the credential that the ticket was created with.
  return { user, scopes: ticket.scopes, via: "ticket", ...(ticket.credential ? { hash: ticket.credential } : {}) };
}

/**
 * Returns the path and query that a ticket is for. Short paths must be expanded. `sub` names the sub-agent if it is no
 * longer in the path.
 */
export function toTicketPath(url: string, sub: readonly string[] = []): string {
  const { pathname, searchParams } = new URL(url, "http://host");
  const split = splitSubPath(pathname);
  const names = [...split.sub, ...sub];
  const query = searchParams.size === 0 ? "" : `?${searchParams}`;
  return `${split.path}${query}${names.length === 0 ? "" : `#${names.join("/")}`}`;
}

/**
 * Returns the user that a request names with a credential of this host, which may have been revoked. For what has to be
 * known before the request is authenticated, such as the agency that a short path is in.
 */
export function identifyUser(request: Request, env: Env, adminSecret?: string): string | undefined {
  const presented = readCredential(request, env.COOKIE_NAME);
  if (!presented) return undefined;
  if (presented.via === "header" && isAdminToken(sha256(presented.secret), env, adminSecret)) return ownerUser;
  return verifyCredential(presented.secret, env.SIGNING_KEY);
}

/** Returns what a connection depends on: the caller's credential if it can end, and a membership. */
export function toCredentials({ user, hash, isMember, scopes }: Caller): Credential[] {
  return [...(hash ? [{ user, hash }] : []), ...(isMember ? [{ user, hash: formatMembership(scopes) }] : [])];
}

/** Creates the error for a request that `authenticate` found no caller for. */
export function createUnauthorizedError(request: Request, env: Env): Error {
  const presented = readCredential(request, env.COOKIE_NAME);
  if (!presented)
    return fail(
      "unauthorized",
      "Authentication required. Send a token as “Authorization: Bearer <token>”; `thinkery token new` creates one.",
    );
  if (presented.via === "ticket")
    return fail(
      "unauthorized",
      "This link works once and has been used, or it has expired. Open it again from Thinkery's page.",
    );
  return presented.via === "cookie"
    ? fail(
        "unauthorized",
        "Your session has ended, or this was not opened from Thinkery's page. Run `thinkery open` for a new login link.",
      )
    : fail("unauthorized", "The token is unknown, expired or revoked. Create a new one with `thinkery token new`.");
}

/** Drops a revoked credential from the cache. */
export function forgetCredential(hash: string): void {
  forgetCount++;
  callerCache.delete(hash);
}

/** Drops all credentials of a removed user from the cache. */
export function forgetCredentials(user: string): void {
  forgetCount++;
  for (const [hash, cached] of callerCache) if (cached.user === user) callerCache.delete(hash);
}

/** A header takes precedence: cookie and ticket are only for the page. */
function readCredential(request: Request, cookieName: string): { secret: string; via: Caller["via"] } | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const header = bearer ?? request.headers.get("x-secret");
  if (header) return { secret: header, via: "header" };
  const ticket = request.headers.get(ticketHeader);
  if (ticket) return { secret: ticket, via: "ticket" };
  const cookie = readCookie(request.headers.get("cookie"), cookieName);
  return cookie ? { secret: cookie, via: "cookie" } : undefined;
}

function readCookie(header: string | null, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const [key, ...value] = pair.trim().split("=");
    if (key === name) return value.join("=");
  }
  return undefined;
}
