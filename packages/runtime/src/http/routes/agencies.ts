import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { forgetAgency } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

export function addAgencyRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listAgencies, ({ env, caller, query }) => env.User.getByName(caller.user).listAgencies(query));

  route(app, endpoints.createAgency, ({ env, caller, body }) => env.User.getByName(caller.user).createAgency(body));

  route(app, endpoints.deleteAgency, async ({ env, caller, params }) => {
    forgetAgency(caller.user, params.agency);
    await env.User.getByName(caller.user).deleteAgency(params.agency);
    forgetAgency(caller.user, params.agency);
    return undefined;
  });
}
