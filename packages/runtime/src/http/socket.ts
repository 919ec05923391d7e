import { agentObjectName, type Endpoints, endpoints, fail } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgent } from "./directory.ts";
import { forward, orClosed } from "./forward.ts";
import { isUpgrade } from "./guard.ts";
import { type Call, type HonoEnv, route } from "./route.ts";

/** The agent's own sockets. What their caller may send there, the object reads from the scopes we hand on. */
export function socketRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.openSocket, (call) => connected(call, { plain: true }));
  route(app, endpoints.openLive, (call) => connected(call, { live: true }));
}

type ToSocket = Pick<Call<Endpoints["openSocket"]>, "env" | "request" | "caller" | "params">;

function connected({ env, request, caller, params: { agency, agent } }: ToSocket, kind: { plain?: boolean; live?: boolean }): Promise<Response> {
  if (request.method !== "GET" || !isUpgrade(request)) {
    throw fail("bad_request", "This address is a WebSocket: connect to it with ws:// or wss://.");
  }
  return orClosed(request, async () => {
    await enterAgent(env, caller.user, agency, agent);
    const name = agentObjectName(agency, agent);
    return forward(request, env.Think.getByName(name), caller, { path: `/agents/think/${name}`, ...kind });
  });
}
