import { type Access, fail } from "@thinkery/sdk";
import type { Env } from "../objects/env.ts";
import type { Caller } from "./authenticate.ts";

/**
 * Host, then Origin: what protects a port of one's own machine from any web page one happens to visit.
 * Every request passes here before anything else looks at it, sockets and static files included.
 */
export function checkAddress(request: Request, env: Env): void {
  const host = request.headers.get("host") ?? "";
  if (!env.ALLOWED_HOSTS.includes(toHostName(host))) {
    throw fail("misdirected", "This host does not go by that name. Use 127.0.0.1, or add the name to allowedHosts.");
  }
  const origin = request.headers.get("origin");
  if (origin !== null && !isOwnOrigin(origin, host) && !env.ALLOWED_ORIGINS.includes(origin)) {
    throw fail("forbidden", "Requests from that origin are not accepted.");
  }
}

/** A cookie travels by itself, so where it alone speaks the request must show that our own page sent it. */
export function checkCookie(request: Request, caller: Caller): void {
  if (caller.via !== "cookie") return;
  const site = request.headers.get("sec-fetch-site");
  const isForeign = site !== null && site !== "same-origin" && site !== "none";
  const isHarmless = (request.method === "GET" || request.method === "HEAD") && !isUpgrade(request);
  if (isForeign || (!isHarmless && request.headers.get("origin") === null)) {
    throw fail("forbidden", "The page's login works only from the page itself.");
  }
}

/** `admin` may do everything the other scopes may. */
export function checkScope(caller: Caller | undefined, access: Access): asserts caller is Caller {
  if (!caller) throw fail("unauthorized", "Give a token: Authorization: Bearer <token>.");
  if (access === "public" || access === "any") return;
  if (!caller.scopes.includes(access) && !caller.scopes.includes("admin")) {
    throw fail("forbidden", `This needs a token with the scope “${access}”.`);
  }
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
