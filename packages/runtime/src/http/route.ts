import type { ResponseOf, BodyOf, Endpoint, ParamsOf, QueryOf } from "@thinkery/sdk";
import type { Context, Hono } from "hono";
import type { Env } from "../objects/env.ts";
import type { Caller } from "./authenticate.ts";
import { readBody, validate } from "./body.ts";
import { checkScope } from "./guard.ts";
import { toJsonResponse, createEmptyResponse } from "./response.ts";

/** What the guard leaves behind for the routes. */
export type HonoEnv = { Bindings: Env; Variables: { caller: Caller | undefined; release: () => void } };

export interface Call<E> {
  env: Env;
  request: Request;
  caller: E extends { access: "public" } ? Caller | undefined : Caller;
  params: ParamsOf<E>;
  query: QueryOf<E>;
  body: BodyOf<E>;
  /** From here on a stop of the host need not wait for this answer. */
  release(): void;
}

type Handler<E> = (call: Call<E>) => Promise<ResponseOf<E> | Response> | ResponseOf<E> | Response;

/** Binds a handler to an endpoint: scope, then path, query and body against their schemas, then the handler. */
export function route<const E extends Endpoint>(app: Hono<HonoEnv>, endpoint: E, handler: Handler<E>): void {
  // Everything up to the end is written as a pattern there, which has to include line breaks.
  app.on(endpoint.method, endpoint.path.replace(/\*([a-z]+)$/, ":$1{[^]*}"), async (context) => {
    const caller = context.get("caller");
    if (endpoint.access !== "public") checkScope(caller, endpoint.access);
    const answer = await handler({
      env: context.env,
      request: context.req.raw,
      caller,
      release: context.get("release"),
      ...(await readInputs(endpoint, context)),
    } as Call<E>);
    if (answer instanceof Response) return answer;
    return endpoint.status === 204 ? createEmptyResponse() : toJsonResponse(answer, endpoint.status);
  });
}

async function readInputs({ params, query, body, maxBodyBytes }: Endpoint, context: Context<HonoEnv>) {
  return {
    params: params && validate("address", params, context.req.param()),
    query: query && validate("query", query, context.req.query()),
    body: body && (await readBody(context.req.raw, body, maxBodyBytes)),
  };
}
