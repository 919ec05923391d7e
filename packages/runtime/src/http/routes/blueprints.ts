import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgency } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

export function addBlueprintRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listBlueprints, async ({ env, caller, params }) => {
    const agency = await enterAgency(env, caller.user, params.agency);
    return { blueprints: await agency.blueprints.list() };
  });

  route(app, endpoints.putBlueprint, async ({ env, caller, params, body }) => {
    const agency = await enterAgency(env, caller.user, params.agency);
    const stored = await agency.blueprints.put(body);
    return { ...stored, id: stored.name };
  });

  route(app, endpoints.getBlueprint, async ({ env, caller, params }) => {
    const agency = await enterAgency(env, caller.user, params.agency);
    return agency.blueprints.get(params.name);
  });

  route(app, endpoints.deleteBlueprint, async ({ env, caller, params }) => {
    const agency = await enterAgency(env, caller.user, params.agency);
    await agency.blueprints.delete(params.name);
    return undefined;
  });
}
