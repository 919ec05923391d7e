import { fail, ownerUser, type Scope, scopes, type Who } from "@thinkery/sdk";
import type { Env } from "../objects/env.ts";
import { isSameText, sha256, verifyCredential } from "./credentials.ts";

/** The authenticated user, and how they presented their credential. */
export interface Caller extends Who {
  via: "header" | "cookie";
  hash: string;
}

// Calling the user's object for every request would cost more than the request. A revocation in this isolate takes
// effect at once, one in another isolate after at most `ttlMs`.
const ttlMs = 10_000;
const maxEntries = 10_000;
const callerCache = new Map<string, { caller: Caller; until: number }>();

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
  const isAdmin =
    isSameText(hash, env.ADMIN_TOKEN_HASH) ||
    (adminSecret !== undefined && adminSecret !== "" && isSameText(hash, sha256(adminSecret)));
  if (isAdmin) return { user: ownerUser, scopes: allScopes, via, hash };

  const now = Date.now();
  const cached = callerCache.get(hash);
  if (cached && cached.until > now) return { ...cached.caller, via };

  const user = verifyCredential(secret, env.SIGNING_KEY);
  if (!user) return undefined;
  const credential = await env.User.getByName(user).checkCredential(hash);
  if (!credential) return undefined;
  const caller: Caller = { user, scopes: credential.scopes, via, hash };
  if (callerCache.size >= maxEntries) callerCache.clear();
  callerCache.set(hash, { caller, until: Math.min(now + ttlMs, credential.expiresAt ?? Infinity) });
  return caller;
}

/** Creates the error for a request that `authenticate` found no caller for. */
export function createUnauthorizedError(request: Request, env: Env): Error {
  const presented = readCredential(request, env.COOKIE_NAME);
  if (!presented)
    return fail(
      "unauthorized",
      "Authentication required. Send a token as “Authorization: Bearer <token>”; `thinkery token new` creates one.",
    );
  return presented.via === "cookie"
    ? fail("unauthorized", "Your session has ended. Run `thinkery open` for a new login link.")
    : fail("unauthorized", "The token is unknown, expired or revoked. Create a new one with `thinkery token new`.");
}

/** Drops a revoked credential from the cache. */
export function forgetCredential(hash: string): void {
  callerCache.delete(hash);
}

/** A header takes precedence: the cookie is only for the page. */
function readCredential(request: Request, cookieName: string): { secret: string; via: Caller["via"] } | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const header = bearer ?? request.headers.get("x-secret");
  if (header) return { secret: header, via: "header" };
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
