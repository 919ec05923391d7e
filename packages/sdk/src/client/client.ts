import type { AnswerOf, BodyIn, ParamsIn, QueryIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import { errorFromBody, fail } from "../protocol/errors.ts";
import { routes } from "../protocol/routes.ts";

export { fail, isThinkeryError } from "../protocol/errors.ts";

export { type Talk, talk, type TalkFrame, type TalkOptions, type TalkState } from "./talk.ts";
export { watch, type WatchOptions } from "./watch.ts";

export interface ClientOptions {
  /** Where the host is, `http://127.0.0.1:5099`; empty in the page, which talks to where it came from. */
  url: string;
  /** Left out in the page: the browser sends its cookie. */
  token?: string;
  fetch?: typeof fetch;
}

type Slot<Key extends string, Value> = undefined extends Value
  ? [Value] extends [undefined]
    ? object
    : { [K in Key]?: Value }
  : object extends Value
    ? { [K in Key]?: Value }
    : { [K in Key]: Value };

type Input<E> = Slot<"params", ParamsIn<E>> & Slot<"query", QueryIn<E>> & Slot<"body", BodyIn<E>> & { signal?: AbortSignal };

type Arguments<E> = object extends Input<E> ? [input?: Input<E>] : [input: Input<E>];

export interface Client {
  /** Calls one endpoint by its name: `client.call("getAgent", { params: { agency: "global", agent: "alice" } })`. */
  call<Name extends keyof Endpoints>(
    name: Name,
    ...input: Arguments<Endpoints[Name]>
  ): Promise<AnswerOf<Endpoints[Name]>>;
}

export function createClient(options: ClientOptions): Client {
  const send = options.fetch ?? fetch;
  const base = options.url.replace(/\/+$/, "");

  return {
    async call(name, ...[input]) {
      const target = routes[name];
      const { params, query, body, signal } = (input ?? {}) as {
        params?: Record<string, string>;
        query?: Record<string, unknown>;
        body?: unknown;
        signal?: AbortSignal;
      };
      const headers: Record<string, string> = { accept: "application/json" };
      if (options.token) headers.authorization = `Bearer ${options.token}`;
      if (body !== undefined) headers["content-type"] = "application/json";
      const response = await reach(() =>
        send(base + fillPath(target.path, params) + queryString(query), {
          method: target.method,
          headers,
          body: body === undefined ? null : JSON.stringify(body),
          signal: signal ?? null,
        }),
      );
      if (!response.ok) throw await errorFrom(response);
      return (response.status === 204 ? undefined : await response.json()) as never;
    },
  };
}

async function reach(request: () => Promise<Response>): Promise<Response> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    throw fail("unavailable", "The host does not answer.");
  }
}

async function errorFrom(response: Response): Promise<Error> {
  const body: unknown = await response.json().catch(() => undefined);
  return errorFromBody(body) ?? fail("internal", `The host answered ${response.status} without saying why.`);
}

function fillPath(path: string, params: Record<string, string> = {}): string {
  return path.replace(/:([a-z]+)/gi, (_, key: string) => encodeURIComponent(params[key] ?? ""));
}

function queryString(query: Record<string, unknown> = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  if (pairs.length === 0) return "";
  return `?${new URLSearchParams(Object.fromEntries(pairs.map(([key, value]) => [key, String(value)])))}`;
}
