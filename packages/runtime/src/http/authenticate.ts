import { ownerUser, type Scope, scopes, type Who } from "@thinkery/sdk";
import type { Env } from "../objects/env.ts";
import { sameText, sha256, userOf } from "./credentials.ts";

/** Who is asking, and by which way they said so. */
export interface Caller extends Who {
  via: "header" | "cookie";
  hash: string;
}

// Asking a user's object on every request would cost more than the request. A revocation made here is noticed at
// once, one made in another isolate after `ttlMs` at the latest.
const ttlMs = 10_000;
const maxEntries = 10_000;
const remembered = new Map<string, { caller: Caller; until: number }>();

const everything: Scope[] = [...scopes];

/** `admin` is another secret that speaks for the owner, beside the host's own. */
export async function authenticate(request: Request, env: Env, admin?: string): Promise<Caller | undefined> {
  const presented = presentedBy(request, env.COOKIE_NAME);
  if (!presented) return undefined;
  const { secret, via } = presented;
  const hash = sha256(secret);
  const isAdmin = sameText(hash, env.ADMIN_TOKEN_HASH) || (admin !== undefined && admin !== "" && sameText(hash, sha256(admin)));
  if (isAdmin) return { user: ownerUser, scopes: everything, via, hash };

  const now = Date.now();
  const known = remembered.get(hash);
  if (known && known.until > now) return { ...known.caller, via };

  const user = userOf(secret, env.SIGNING_KEY);
  if (!user) return undefined;
  const alive = await env.User.getByName(user).checkCredential(hash);
  if (!alive) return undefined;
  const caller: Caller = { user, scopes: alive.scopes, via, hash };
  if (remembered.size >= maxEntries) remembered.clear();
  remembered.set(hash, { caller, until: Math.min(now + ttlMs, alive.expiresAt ?? Infinity) });
  return caller;
}

/** Called when a credential is revoked. */
export function forget(hash: string): void {
  remembered.delete(hash);
}

/** The API prefers the header: a cookie is for the page alone. */
function presentedBy(request: Request, cookieName: string): { secret: string; via: Caller["via"] } | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const header = bearer ?? request.headers.get("x-secret");
  if (header) return { secret: header, via: "header" };
  const cookie = cookieIn(request.headers.get("cookie"), cookieName);
  return cookie ? { secret: cookie, via: "cookie" } : undefined;
}

function cookieIn(header: string | null, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const [key, ...value] = pair.trim().split("=");
    if (key === name) return value.join("=");
  }
  return undefined;
}
