import { agentObjectName, endpoints, fail } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgent } from "./directory.ts";
import { forward, orClosed } from "./forward.ts";
import { isUpgrade } from "./guard.ts";
import { type HonoEnv, route } from "./route.ts";

/** The agent's own socket. What its caller may send there, the object reads from the scopes we hand on. */
export function socketRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.openSocket, ({ env, request, caller, params: { agency, agent } }) => {
    if (request.method !== "GET" || !isUpgrade(request)) {
      throw fail("bad_request", "This address is a WebSocket: connect to it with ws:// or wss://.");
    }
    return orClosed(request, async () => {
      await enterAgent(env, caller.user, agency, agent);
      const name = agentObjectName(agency, agent);
      return forward(request, env.Think.getByName(name), caller, { path: `/agents/think/${name}`, plain: true });
    });
  });
}
