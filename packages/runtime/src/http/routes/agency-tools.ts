import { endpoints, fail } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgency, requireAgent } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

/** The tools that are given to the agents of an agency, and all that an agent has. */
export function addAgencyToolRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listAgencyTools, async ({ env, caller, params }) => ({
    tools: await (await enterAgency(env, caller.user, params.agency)).agencyTools.list(),
  }));

  route(app, endpoints.putAgencyTool, async ({ env, caller, params, body }) => {
    const { agencyTools } = await enterAgency(env, caller.user, params.agency);
    const { name } = body.tool;
    if (name !== params.tool) {
      const message = `is “${name}”, but the path names “${params.tool}”`;
      throw fail("bad_request", `The tool’s name ${message}.`, { issues: [{ path: ["tool", "name"], message }] });
    }
    return agencyTools.put(body, caller.user);
  });

  route(app, endpoints.deleteAgencyTool, async ({ env, caller, params, query }) => {
    await (await enterAgency(env, caller.user, params.agency)).agencyTools.delete(params.tool, query);
    return undefined;
  });

  route(app, endpoints.listAgentTools, async (call) => ({
    tools: await (await requireAgent(call)).conversation.listTools(),
  }));
}
