import { toAppResponse } from "../response.ts";
import { appOrigin } from "./request.ts";

/** Headers that say something about the body and nothing to the browser about anybody else. */
const allowedHeaders = new Set(["content-type", "content-language", "cache-control", "etag", "last-modified"]);

/** Of the others, these mean something to browsers, to proxies in front of us, or to us. */
const blockedHeader =
  /^x-(?:thinkery|agents|frame|content|xss|dns|permitted|download|ua|webkit|sourcemap|robots|forwarded|accel|sendfile|send-file|lighttpd|litespeed|reproxy|original|rewrite|http-method|real)(?:-|$)/;

/** More than this, and whoever reads the answer might refuse all of it. */
const maxHeaders = 32;
const maxHeaderChars = 2000;

/** What an app answered to what it was asked, without whatever it has no say in. */
export function sanitizeAppResponse(answer: Response, asked: string, address: string): Response {
  const headers = new Headers();
  for (const [name, value] of filterHeaders(answer.headers)) headers.set(name, value);
  const next = resolveAppLocation(answer.headers.get("location"), asked, address);
  if (next !== undefined) headers.set("location", next);
  headers.set("x-thinkery-app", answer.headers.get("x-thinkery-app") ?? "");
  if (answer.status >= 500) headers.set("x-thinkery-app-error", "1");
  // For pages of other origins that the configuration lets in.
  headers.set("access-control-expose-headers", "x-thinkery-app, x-thinkery-app-error");
  return toAppResponse(answer.body, answer.status, headers);
}

function filterHeaders(said: Headers): [name: string, value: string][] {
  const short = [...said].filter(([name, value]) => name.length + value.length <= maxHeaderChars);
  const others = short.filter(([name]) => name.startsWith("x-") && !blockedHeader.test(name));
  return [...short.filter(([name]) => allowedHeaders.has(name)), ...others.slice(0, maxHeaders)];
}

/** An app may send its reader on to another place of its own, and nowhere else. */
function resolveAppLocation(location: string | null, asked: string, address: string): string | undefined {
  if (location === null || !URL.canParse(location, asked)) return undefined;
  const { origin, pathname, search, hash } = new URL(location, asked);
  const next = address + pathname.slice(1) + search + hash;
  return origin === appOrigin && next.length <= maxHeaderChars ? next : undefined;
}
