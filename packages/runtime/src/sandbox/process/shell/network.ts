import type { BashOptions } from "just-bash/browser";
import type { ShellHost } from "../../shell.ts";
import { fromLatin } from "./file-body.ts";

type SecureFetch = NonNullable<BashOptions["fetch"]>;

/** The result of the capability `fetch` in main, see tools/capabilities/fetch. */
interface FetchResult {
  status: number;
  statusText: string;
  headers: Record<string, string>;
  body?: string;
  bodyBase64?: string;
}

const defaultMaxRedirects = 20;

/**
 * Creates a fetch that goes through main. Each redirect is a request of its own, so that each URL passes the policy.
 */
export function createFetch(host: ShellHost): SecureFetch {
  return async (
    address,
    { method = "GET", headers, body, followRedirects = true, maxRedirects = defaultMaxRedirects } = {},
  ) => {
    let request = { url: address, method: method.toUpperCase(), headers: toHeaders(headers), body };
    for (let redirects = 0; ; redirects++) {
      const response = JSON.parse(
        await host.fetch(
          JSON.stringify(request.body === undefined || request.body === "" ? { ...request, body: undefined } : request),
        ),
      ) as FetchResult;
      const location = response.status >= 300 && response.status < 400 ? response.headers.location : undefined;
      if (!followRedirects || location === undefined) {
        return {
          status: response.status,
          statusText: response.statusText,
          headers: response.headers,
          body: toBytes(response),
          url: request.url,
        };
      }
      if (redirects >= Math.min(maxRedirects, defaultMaxRedirects))
        throw new Error(`Maximum (${Math.min(maxRedirects, defaultMaxRedirects)}) redirects followed`);
      request = followRedirect(request, response.status, new URL(location, request.url));
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
  // Credentials are not sent to another origin.
  const isCrossOrigin = to.origin !== new URL(url).origin;
  const remaining = Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) =>
        !(isCrossOrigin && (name === "authorization" || name === "cookie")) &&
        !(becomesGet && name.startsWith("content-")),
    ),
  );
  return { url: to.href, method: becomesGet ? "GET" : method, headers: remaining, body: becomesGet ? undefined : body };
}

function toHeaders(headers: HeadersInit | undefined): Record<string, string> {
  return Object.fromEntries(new Headers(headers));
}

function toBytes({ body, bodyBase64 }: FetchResult): Uint8Array {
  return bodyBase64 === undefined ? new TextEncoder().encode(body ?? "") : fromLatin(atob(bodyBase64));
}
