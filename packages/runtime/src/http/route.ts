import type { ResponseOf, BodyOf, Endpoint, ParamsOf, QueryOf } from "@thinkery/sdk";
import type { Context, Hono } from "hono";
import type { Env } from "../objects/env.ts";
import type { Caller } from "./authenticate.ts";
import { readBody, validate } from "./body.ts";
import { checkScope } from "./guard.ts";
import { toJsonResponse, createEmptyResponse } from "./response.ts";

/** The variables that the guard sets for the routes. */
export type HonoEnv = { Bindings: Env; Variables: { caller: Caller | undefined; release: () => void } };

export interface Call<E> {
  env: Env;
  request: Request;
  caller: E extends { access: "public" } ? Caller | undefined : Caller;
  params: ParamsOf<E>;
  query: QueryOf<E>;
  body: BodyOf<E>;
  /** Stops holding up a shutdown of the host until this response is sent. */
  release(): void;
}

type Handler<E> = (call: Call<E>) => Promise<ResponseOf<E> | Response> | ResponseOf<E> | Response;

/** Binds a handler to an endpoint: checks the scope, validates path, query and body, then calls the handler. */
export function route<const E extends Endpoint>(app: Hono<HonoEnv>, endpoint: E, handler: Handler<E>): void {
  // Hono's pattern for a wildcard parameter must also match line breaks.
  app.on(endpoint.method, endpoint.path.replace(/\*([a-z]+)$/, ":$1{[^]*}"), async (context) => {
    const caller = context.get("caller");
    if (endpoint.access !== "public") checkScope(caller, endpoint.access);
    const result = await handler({
      env: context.env,
      request: context.req.raw,
      caller,
      release: context.get("release"),
      ...(await readInputs(endpoint, context)),
    } as Call<E>);
    if (result instanceof Response) return result;
    return endpoint.status === 204 ? createEmptyResponse() : toJsonResponse(result, endpoint.status);
  });
}

async function readInputs({ params, query, body, maxBodyBytes }: Endpoint, context: Context<HonoEnv>) {
  return {
    params: params && validate("path", params, context.req.param()),
    query: query && validate("query", query, context.req.query()),
    body: body && (await readBody(context.req.raw, body, maxBodyBytes)),
  };
}
