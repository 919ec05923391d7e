import type { BodyIn, ParamsIn, QueryIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import { errorFromBody, fail } from "../protocol/errors.ts";
import { routes } from "../protocol/routes.ts";

export interface RequestOptions {
  /** Where the host is, `http://127.0.0.1:5099`; empty in the page, which talks to where it came from. */
  url: string;
  /** Left out in the page: the browser sends its cookie. */
  token?: string;
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

/** What goes into a request, whichever it is. */
interface RequestParts {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  signal?: AbortSignal;
}

/** Asks one endpoint, and gives back its answer if it is a success. */
export type EndpointFetch = (name: keyof Endpoints, parts: RequestParts, accept: string) => Promise<Response>;

export function createEndpointFetch(options: RequestOptions): EndpointFetch {
  const send = createHostFetch(options);

  return async (name, { params, query, body, signal }, accept) => {
    const { method, path } = routes[name];
    const headers = { accept, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const response = await send(fillPath(path, params) + toQueryString(query), {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    });
    if (!response.ok) throw await toError(response);
    return response;
  };
}

/** Asks a path of the host, with the token, and gives back whatever it answers. */
export type HostFetch = (path: string, init: RequestInit) => Promise<Response>;

export function createHostFetch({ url, token, fetch: send = fetch }: RequestOptions): HostFetch {
  const base = url.replace(/\/+$/, "");
  return (path, init) => {
    const headers = new Headers(init.headers);
    if (token) headers.set("authorization", `Bearer ${token}`);
    return reachHost(init.signal ?? undefined, () => send(base + path, { ...init, headers }));
  };
}

async function reachHost(signal: AbortSignal | undefined, request: () => Promise<Response>): Promise<Response> {
  try {
    return await request();
  } catch {
    signal?.throwIfAborted();
    throw fail("unavailable", "The host does not answer.");
  }
}

export async function toError(response: Response): Promise<Error> {
  const body: unknown = await response.json().catch(() => undefined);
  return errorFromBody(body) ?? fail("internal", `The host answered ${response.status} without saying why.`);
}

export function fillPath(path: string, params: Record<string, string> = {}): string {
  const filled = path.replace(/:([a-z]+)/gi, (_, key: string) => encodeURIComponent(params[key] ?? ""));
  return filled.replace(/\*([a-z]+)$/i, (_, key: string) =>
    (params[key] ?? "").split("/").map(encodeURIComponent).join("/"),
  );
}

export function toQueryString(query: object = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  if (pairs.length === 0) return "";
  return `?${new URLSearchParams(Object.fromEntries(pairs.map(([key, value]) => [key, String(value)])))}`;
}
