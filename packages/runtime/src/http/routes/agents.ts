import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgency, forgetAgent } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

export function addAgentRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listAgents, async ({ env, caller, params, query }) => {
    await enterAgency(env, caller.user, params.agency);
    return env.Agency.getByName(params.agency).listAgents(query);
  });

  route(app, endpoints.createAgent, async ({ env, caller, params, body }) => {
    await enterAgency(env, caller.user, params.agency);
    return env.Agency.getByName(params.agency).createAgent(caller.user, body);
  });

  route(app, endpoints.getAgent, async ({ env, caller, params }) => {
    await enterAgency(env, caller.user, params.agency);
    return env.Agency.getByName(params.agency).getAgent(params.agent);
  });

  route(app, endpoints.deleteAgent, async ({ env, caller, params }) => {
    await enterAgency(env, caller.user, params.agency);
    forgetAgent(params.agency, params.agent);
    await env.Agency.getByName(params.agency).deleteAgent(params.agent);
    forgetAgent(params.agency, params.agent);
    return undefined;
  });
}
