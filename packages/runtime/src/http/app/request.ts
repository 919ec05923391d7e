import { readBytes } from "../body.ts";

/** Where every app believes to be. */
export const appOrigin = "http://app";

/** Who asks, from where and how they were let in is nobody's business in a sandbox; the connection is ours. */
const withheldHeaders = [
  /^(?:cookie2?|authorization|x-secret|proxy-.*|x-thinkery-.*|x-agents-.*)$/,
  /^(?:origin|referer|sec-.*|via|forwarded|x-forwarded.*|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-.*|fastly-.*)$/,
  /^(?:host|connection|keep-alive|upgrade|http2-settings|te|trailer|transfer-encoding|content-length|accept-encoding|expect)$/,
];

/** A request as an app may see it: what is asked, and nothing of who asks. */
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

/** What comes after the app's own address, as it was written. */
function getAppPath(address: string): string {
  const { pathname, search } = new URL(address);
  const [, place = "/"] = /^\/agency\/[^/]+\/agent\/[^/]+\/app(\/.*)$/.exec(pathname) ?? [];
  return place + search;
}

function filterHeaders(given: Headers): Headers {
  const headers = new Headers();
  for (const [name, value] of given)
    if (!withheldHeaders.some((pattern) => pattern.test(name))) headers.set(name, value);
  return headers;
}
