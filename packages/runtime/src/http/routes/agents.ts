import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgency, forgetAgent } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

export function addAgentRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listAgents, async ({ env, caller, params, query }) => {
    return (await enterAgency(env, caller.user, params.agency)).listAgents(query);
  });

  route(app, endpoints.createAgent, async ({ env, caller, params, body }) => {
    return (await enterAgency(env, caller.user, params.agency)).createAgent(caller.user, body);
  });

  route(app, endpoints.getAgent, async ({ env, caller, params }) => {
    return (await enterAgency(env, caller.user, params.agency)).getAgent(params.agent);
  });

  route(app, endpoints.deleteAgent, async ({ env, caller, params }) => {
    const agency = await enterAgency(env, caller.user, params.agency);
    forgetAgent(caller.user, params.agency, params.agent);
    await agency.deleteAgent(params.agent);
    forgetAgent(caller.user, params.agency, params.agent);
    return undefined;
  });
}
