import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgency } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

export function addBlueprintRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listBlueprints, async ({ env, caller, params }) => {
    const agency = await enterAgency(env, caller.user, params.agency);
    return { blueprints: await agency.listBlueprints() };
  });

  route(app, endpoints.putBlueprint, async ({ env, caller, params, body }) => {
    const agency = await enterAgency(env, caller.user, params.agency);
    const stored = await agency.putBlueprint(body);
    return { ...stored, id: stored.name };
  });

  route(app, endpoints.getBlueprint, async ({ env, caller, params }) => {
    const agency = await enterAgency(env, caller.user, params.agency);
    return agency.getBlueprint(params.name);
  });

  route(app, endpoints.deleteBlueprint, async ({ env, caller, params }) => {
    const agency = await enterAgency(env, caller.user, params.agency);
    await agency.deleteBlueprint(params.name);
    return undefined;
  });
}
