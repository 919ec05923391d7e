import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgency } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

export function addBlueprintRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listBlueprints, async ({ env, caller, params }) => {
    await enterAgency(env, caller.user, params.agency);
    return { blueprints: await env.Agency.getByName(params.agency).listBlueprints() };
  });

  route(app, endpoints.putBlueprint, async ({ env, caller, params, body }) => {
    await enterAgency(env, caller.user, params.agency);
    const stored = await env.Agency.getByName(params.agency).putBlueprint(body);
    return { ...stored, id: stored.name };
  });

  route(app, endpoints.getBlueprint, async ({ env, caller, params }) => {
    await enterAgency(env, caller.user, params.agency);
    return env.Agency.getByName(params.agency).getBlueprint(params.name);
  });

  route(app, endpoints.deleteBlueprint, async ({ env, caller, params }) => {
    await enterAgency(env, caller.user, params.agency);
    await env.Agency.getByName(params.agency).deleteBlueprint(params.name);
    return undefined;
  });
}
