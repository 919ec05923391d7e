import type { BodyIn, ParamsIn, QueryIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import { errorFromBody, fail } from "../protocol/errors.ts";
import { routes } from "../protocol/routes.ts";

export interface RequestOptions {
  /** The URL of the host, for example `http://127.0.0.1:5099`. Empty in a page of the host itself. */
  url: string;
  /** Omit it in a page of the host: the browser sends its cookie. */
  token?: string;
  /** A custom `fetch`, for example for tests. */
  fetch?: typeof fetch;
}

type InputPart<Key extends string, Value> = undefined extends Value
  ? [Value] extends [undefined]
    ? object
    : { [K in Key]?: Value }
  : object extends Value
    ? { [K in Key]?: Value }
    : { [K in Key]: Value };

type Input<E> = InputPart<"params", ParamsIn<E>> &
  InputPart<"query", QueryIn<E>> &
  InputPart<"body", BodyIn<E>> & { signal?: AbortSignal };

export type Arguments<E> = object extends Input<E> ? [input?: Input<E>] : [input: Input<E>];

/** The parts of a request to any endpoint. */
interface RequestParts {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  signal?: AbortSignal;
}

/** Calls an endpoint and returns its response. Throws if the status is not a success. */
export type EndpointFetch = (name: keyof Endpoints, parts: RequestParts, accept: string) => Promise<Response>;

export function createEndpointFetch(options: RequestOptions): EndpointFetch {
  const fetchHost = createHostFetch(options);

  return async (name, { params, query, body, signal }, accept) => {
    const { method, path } = routes[name];
    const headers = { accept, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const response = await fetchHost(fillPath(path, params) + toQueryString(query), {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    });
    if (!response.ok) throw await toError(response);
    return response;
  };
}

/** Sends a request with the token to a path of the host and returns the response, whatever its status. */
export type HostFetch = (path: string, init: RequestInit) => Promise<Response>;

export function createHostFetch({ url, token, fetch: customFetch = fetch }: RequestOptions): HostFetch {
  const base = url.replace(/\/+$/, "");
  return (path, init) => {
    const headers = new Headers(init.headers);
    if (token) headers.set("authorization", `Bearer ${token}`);
    return reachHost(base, init.signal ?? undefined, () => customFetch(base + path, { ...init, headers }));
  };
}

async function reachHost(
  url: string,
  signal: AbortSignal | undefined,
  request: () => Promise<Response>,
): Promise<Response> {
  try {
    return await request();
  } catch {
    signal?.throwIfAborted();
    // In a page of the host itself the URL is empty.
    const hint = url ? ` at ${url}. Check the URL, or start the host with \`thinkery start\`.` : ".";
    throw fail("unavailable", `Cannot reach the host${hint}`);
  }
}

export async function toError(response: Response): Promise<Error> {
  const body: unknown = await response.json().catch(() => undefined);
  return (
    errorFromBody(body) ?? fail("internal", `The host responded with status ${response.status} and no error message.`)
  );
}

/**
 * Replaces the `:name` parts of a route, and a `*name` at its end, which may contain slashes. An agent may be the path of
 * a sub-agent, `alice/subagent-1`, whose endpoints are below `/sub/`.
 */
export function fillPath(path: string, params: Record<string, string> = {}): string {
  const fill = (key: string) => {
    const value = params[key] ?? "";
    return key === "agent" ? value.split("/").map(encodeURIComponent).join("/sub/") : encodeURIComponent(value);
  };
  const filled = path.replace(/:([a-z]+)/gi, (_, key: string) => fill(key));
  return filled.replace(/\*([a-z]+)$/i, (_, key: string) =>
    (params[key] ?? "").split("/").map(encodeURIComponent).join("/"),
  );
}

export function toQueryString(query: object = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  if (pairs.length === 0) return "";
  return `?${new URLSearchParams(Object.fromEntries(pairs.map(([key, value]) => [key, String(value)])))}`;
}
