import { readBytes } from "../body.ts";

/** The origin that every app sees. */
export const appOrigin = "http://app";

/** Headers hidden from apps: credentials, the caller's origin and address, and the connection itself. */
const withheldHeaders = [
  /^(?:cookie2?|authorization|x-secret|proxy-.*|x-thinkery-.*|x-agents-.*)$/,
  /^(?:origin|referer|sec-.*|via|forwarded|x-forwarded.*|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-.*|fastly-.*)$/,
  /^(?:host|connection|keep-alive|upgrade|http2-settings|te|trailer|transfer-encoding|content-length|accept-encoding|expect)$/,
];

/** Converts a request for an app, without anything about the caller. */
export async function toAppRequest(request: Request): Promise<Request> {
  const { method } = request;
  const body = method === "GET" || method === "HEAD" ? null : await readBytes(request);
  return new Request(`${appOrigin}${getAppPath(request.url)}`, {
    method,
    headers: filterHeaders(request.headers),
    body,
    redirect: "manual",
  });
}

/** Returns the path below the app's address, undecoded. */
function getAppPath(address: string): string {
  const { pathname, search } = new URL(address);
  const [, path = "/"] = /^\/agency\/[^/]+\/agent\/[^/]+\/app(\/.*)$/.exec(pathname) ?? [];
  return path + search;
}

function filterHeaders(original: Headers): Headers {
  const headers = new Headers();
  for (const [name, value] of original)
    if (!withheldHeaders.some((pattern) => pattern.test(name))) headers.set(name, value);
  return headers;
}
