import { ownerUser, type Scope, scopes, type Who } from "@thinkery/sdk";
import type { Env } from "../objects/env.ts";
import { isSameText, sha256, verifyCredential } from "./credentials.ts";

/** Who is asking, and by which way they said so. */
export interface Caller extends Who {
  via: "header" | "cookie";
  hash: string;
}

// Asking a user's object on every request would cost more than the request. A revocation made here is noticed at
// once, one made in another isolate after `ttlMs` at the latest.
const ttlMs = 10_000;
const maxEntries = 10_000;
const callerCache = new Map<string, { caller: Caller; until: number }>();

const allScopes: Scope[] = [...scopes];

/** `admin` is another secret that speaks for the owner, beside the host's own. */
export async function authenticate(request: Request, env: Env, admin?: string): Promise<Caller | undefined> {
  const presented = readCredential(request, env.COOKIE_NAME);
  if (!presented) return undefined;
  const { secret, via } = presented;
  const hash = sha256(secret);
  const isAdmin =
    isSameText(hash, env.ADMIN_TOKEN_HASH) || (admin !== undefined && admin !== "" && isSameText(hash, sha256(admin)));
  if (isAdmin) return { user: ownerUser, scopes: allScopes, via, hash };

  const now = Date.now();
  const known = callerCache.get(hash);
  if (known && known.until > now) return { ...known.caller, via };

  const user = verifyCredential(secret, env.SIGNING_KEY);
  if (!user) return undefined;
  const alive = await env.User.getByName(user).checkCredential(hash);
  if (!alive) return undefined;
  const caller: Caller = { user, scopes: alive.scopes, via, hash };
  if (callerCache.size >= maxEntries) callerCache.clear();
  callerCache.set(hash, { caller, until: Math.min(now + ttlMs, alive.expiresAt ?? Infinity) });
  return caller;
}

/** Called when a credential is revoked. */
export function forgetCredential(hash: string): void {
  callerCache.delete(hash);
}

/** The API prefers the header: a cookie is for the page alone. */
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
