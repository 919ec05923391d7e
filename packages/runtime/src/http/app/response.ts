import { toAppResponse } from "../response.ts";
import { appOrigin } from "./request.ts";

/** Headers that only describe the body. */
const allowedHeaders = new Set(["content-type", "content-language", "cache-control", "etag", "last-modified"]);

/** Custom headers that mean something to browsers, to proxies in front of us, or to us. */
const blockedHeader =
  /^x-(?:thinkery|agents|frame|content|xss|dns|permitted|download|ua|webkit|sourcemap|robots|forwarded|accel|sendfile|send-file|lighttpd|litespeed|reproxy|original|rewrite|http-method|real)(?:-|$)/;

/** With more, clients might reject the whole response. */
const maxHeaders = 32;
const maxHeaderChars = 2000;

/** Removes from an app's response everything that an app may not set. */
export function sanitizeAppResponse(response: Response, requestUrl: string, address: string): Response {
  const headers = new Headers();
  for (const [name, value] of filterHeaders(response.headers)) headers.set(name, value);
  const location = resolveAppLocation(response.headers.get("location"), requestUrl, address);
  if (location !== undefined) headers.set("location", location);
  headers.set("x-thinkery-app", response.headers.get("x-thinkery-app") ?? "");
  if (response.status >= 500) headers.set("x-thinkery-app-error", "1");
  // For pages of the configured origins.
  headers.set("access-control-expose-headers", "x-thinkery-app, x-thinkery-app-error");
  return toAppResponse(response.body, response.status, headers);
}

function filterHeaders(original: Headers): [name: string, value: string][] {
  const short = [...original].filter(([name, value]) => name.length + value.length <= maxHeaderChars);
  const others = short.filter(([name]) => name.startsWith("x-") && !blockedHeader.test(name));
  return [...short.filter(([name]) => allowedHeaders.has(name)), ...others.slice(0, maxHeaders)];
}

/** An app may only redirect to its own paths. */
function resolveAppLocation(location: string | null, requestUrl: string, address: string): string | undefined {
  if (location === null || !URL.canParse(location, requestUrl)) return undefined;
  const { origin, pathname, search, hash } = new URL(location, requestUrl);
  const target = address + pathname.slice(1) + search + hash;
  return origin === appOrigin && target.length <= maxHeaderChars ? target : undefined;
}
