import {
  type BodyOf,
  type Endpoint,
  fail,
  parseAgencyRef,
  type ParamsOf,
  type QueryOf,
  type ResponseOf,
} from "@thinkery/sdk";
import type { Context, Hono } from "hono";
import type { Env } from "../objects/env.ts";
import type { Caller } from "./authenticate.ts";
import { readBody, validate } from "./body.ts";
import { narrowCaller } from "./directory.ts";
import { closeIfNotFound } from "./forward.ts";
import { checkMayDo, checkScope } from "./guard.ts";
import { toJsonResponse, createEmptyResponse } from "./response.ts";

/** The variables that the guard sets for the routes. */
export type HonoEnv = { Bindings: Env; Variables: { caller: Caller | undefined; release: () => void } };

export interface Call<E> {
  env: Env;
  request: Request;
  /** With the scopes that the caller has in the agency of the path, which may be one of another user. */
  caller: E extends { access: "public" } ? Caller | undefined : Caller;
  params: ParamsOf<E>;
  query: QueryOf<E>;
  body: BodyOf<E>;
  /** Stops holding up a shutdown of the host until this response is sent. */
  release(): void;
}

type Handler<E> = (call: Call<E>) => Promise<ResponseOf<E> | Response> | ResponseOf<E> | Response;

/**
 * Binds a handler to an endpoint: checks the scope, the path, and what the caller may do in its agency, then validates
 * query and body and calls the handler.
 */
export function route<const E extends Endpoint>(app: Hono<HonoEnv>, endpoint: E, handler: Handler<E>): void {
  // Hono's pattern for a wildcard parameter must also match line breaks.
  app.on(endpoint.method, endpoint.path.replace(/\*([a-z]+)$/, ":$1{[^]*}"), async (context) => {
    const caller = context.get("caller");
    if (endpoint.access !== "public") checkScope(caller, endpoint.access);
    const { env, req } = context;
    const params = endpoint.params && validate("path", endpoint.params, req.param());
    const call = async () =>
      handler({
        env,
        request: req.raw,
        release: context.get("release"),
        ...(caller && endpoint.access !== "public" ? await admit(env, endpoint, caller, params) : { caller, params }),
        ...(await readInputs(endpoint, context)),
      } as Call<E>);
    const result = endpoint.status === 101 ? await closeIfNotFound(req.raw, call) : await call();
    if (result instanceof Response) return result;
    return endpoint.status === 204 ? createEmptyResponse() : toJsonResponse(result, endpoint.status);
  });
}

/** Returns the caller as they may act in the agency of the path, and the path with the name they use for it. */
async function admit(env: Env, endpoint: Endpoint, caller: Caller, given: unknown) {
  const params = given as { agency?: string } | undefined;
  if (params?.agency === undefined) return { caller, params };
  const { id, user: owner } = parseAgencyRef(caller.user, params.agency);
  if (owner === caller.user) return { caller, params: { ...params, agency: id } };
  const member = await narrowCaller(env, caller, params.agency);
  checkMayDo(member, endpoint.access, params.agency);
  if (endpoint.excludesMembers) throw fail("forbidden", `Only “${owner}” may do this in “${params.agency}”.`);
  return { caller: member, params };
}

async function readInputs({ query, body, maxBodyBytes }: Endpoint, context: Context<HonoEnv>) {
  return {
    query: query && validate("query", query, context.req.query()),
    body: body && (await readBody(context.req.raw, body, maxBodyBytes)),
  };
}
