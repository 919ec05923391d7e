import { type Access, fail, hasScope, ownerUser } from "@thinkery/sdk";
import type { Env } from "../objects/env.ts";
import type { Caller } from "./authenticate.ts";

/**
 * Checks Host, then Origin: protects a local port from web pages the user visits. Every request passes here first,
 * sockets and static files included.
 */
export function checkAddress(request: Request, env: Env): void {
  const host = request.headers.get("host") ?? "";
  if (!env.ALLOWED_HOSTS.includes(toHostName(host))) {
    throw fail(
      "misdirected",
      "Unknown host name. Use 127.0.0.1, or add the name to `allowedHosts` in the configuration.",
    );
  }
  const origin = request.headers.get("origin");
  if (origin !== null && !isOwnOrigin(origin, host) && !env.ALLOWED_ORIGINS.includes(origin)) {
    throw fail(
      "forbidden",
      "Requests from this origin are not accepted. To allow it, add it to `allowedOrigins` in the configuration.",
    );
  }
}

/** Browsers send the cookie automatically, so a request that relies on it must prove that our own page sent it. */
export function checkCookie(request: Request, caller: Caller): void {
  if (caller.via !== "cookie") return;
  const site = request.headers.get("sec-fetch-site");
  const isForeign = site !== null && site !== "same-origin" && site !== "none";
  const isReadOnly = (request.method === "GET" || request.method === "HEAD") && !isUpgrade(request);
  if (isForeign || (!isReadOnly && request.headers.get("origin") === null)) {
    throw fail("forbidden", "The login cookie is only accepted from Thinkery's own page. Use a token instead.");
  }
}

/** Throws if the caller lacks the scope. `owner` is the `admin` of the host's owner. */
export function checkScope(caller: Caller | undefined, access: Access): asserts caller is Caller {
  if (!caller) throw fail("unauthorized", "Authentication required.");
  if (access === "public" || access === "any") return;
  const scope = access === "owner" ? "admin" : access;
  if (!hasScope(caller.scopes, scope)) throw fail("forbidden", `This requires a token with the scope “${scope}”.`);
  if (access === "owner" && caller.user !== ownerUser)
    throw fail("forbidden", "This requires a token of the host's owner with the scope “admin”.");
}

/** Throws if the caller lacks the scope in an agency where `narrowCaller` has said what they may do. */
export function checkMayDo(caller: Caller, access: Access, agency: string): void {
  if (access === "any" || access === "public" || !caller.isMember) return checkScope(caller, access);
  if (access === "owner" || !hasScope(caller.scopes, access))
    throw fail(
      "forbidden",
      `This requires the scope “${access}” in “${agency}”: of your token, and from the agency’s owner.`,
    );
}

/** Returns the user whose credentials a call is about. Only the owner's admin may manage those of others. */
export function resolveUser(caller: Caller, user = caller.user): string {
  if (user !== caller.user) checkScope(caller, "owner");
  return user;
}

export function isUpgrade(request: Request): boolean {
  return request.headers.get("upgrade")?.toLowerCase() === "websocket";
}

function toHostName(host: string): string {
  return host.replace(/:\d+$/, "").toLowerCase();
}

function isOwnOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}
