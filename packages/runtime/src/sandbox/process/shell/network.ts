import type { BashOptions } from "just-bash/browser";
import type { ShellHost } from "../../shell.ts";
import { fromLatin } from "./file-body.ts";

type SecureFetch = NonNullable<BashOptions["fetch"]>;

/** What main answers; see tools/capabilities/fetch. */
interface FetchResult {
  status: number;
  statusText: string;
  headers: Record<string, string>;
  body?: string;
  bodyBase64?: string;
}

const defaultMaxRedirects = 20;

/** The network as main lets it be used. Each address is asked for by itself, redirects too, so that each passes the policy. */
export function createFetch(host: ShellHost): SecureFetch {
  return async (
    address,
    { method = "GET", headers, body, followRedirects = true, maxRedirects = defaultMaxRedirects } = {},
  ) => {
    let request = { url: address, method: method.toUpperCase(), headers: toHeaders(headers), body };
    for (let redirects = 0; ; redirects++) {
      const answer = JSON.parse(
        await host.fetch(
          JSON.stringify(request.body === undefined || request.body === "" ? { ...request, body: undefined } : request),
        ),
      ) as FetchResult;
      const location = answer.status >= 300 && answer.status < 400 ? answer.headers.location : undefined;
      if (!followRedirects || location === undefined) {
        return {
          status: answer.status,
          statusText: answer.statusText,
          headers: answer.headers,
          body: toBytes(answer),
          url: request.url,
        };
      }
      if (redirects >= Math.min(maxRedirects, defaultMaxRedirects))
        throw new Error(`Maximum (${Math.min(maxRedirects, defaultMaxRedirects)}) redirects followed`);
      request = followRedirect(request, answer.status, new URL(location, request.url));
    }
  };
}

interface FetchRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

function followRedirect({ url, method, headers, body }: FetchRequest, status: number, to: URL): FetchRequest {
  const becomesGet = method !== "HEAD" && (status === 303 || (status < 303 && method === "POST"));
  // What proves who somebody is stays with the host it was meant for.
  const isElsewhere = to.origin !== new URL(url).origin;
  const kept = Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) =>
        !(isElsewhere && (name === "authorization" || name === "cookie")) &&
        !(becomesGet && name.startsWith("content-")),
    ),
  );
  return { url: to.href, method: becomesGet ? "GET" : method, headers: kept, body: becomesGet ? undefined : body };
}

function toHeaders(given: HeadersInit | undefined): Record<string, string> {
  return Object.fromEntries(new Headers(given));
}

function toBytes({ body, bodyBase64 }: FetchResult): Uint8Array {
  return bodyBase64 === undefined ? new TextEncoder().encode(body ?? "") : fromLatin(atob(bodyBase64));
}
