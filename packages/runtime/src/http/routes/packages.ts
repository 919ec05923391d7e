import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgency, requireAgent } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

/** Packages of an agency, and what the code of an agent says and does. */
export function addPackageRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listPackages, async ({ env, caller, params, query }) =>
    (await enterAgency(env, caller.user, params.agency)).packages.list(query),
  );

  route(app, endpoints.deployPackage, async ({ env, caller, params, body }) =>
    (await enterAgency(env, caller.user, params.agency)).packages.deploy(body, caller.user),
  );

  route(app, endpoints.getPackage, async ({ env, caller, params }) =>
    (await enterAgency(env, caller.user, params.agency)).packages.get(params.package),
  );

  route(app, endpoints.deletePackage, async ({ env, caller, params }) => {
    await (await enterAgency(env, caller.user, params.agency)).packages.delete(params.package);
    return undefined;
  });

  route(app, endpoints.rollbackPackage, async ({ env, caller, params, body }) =>
    (await enterAgency(env, caller.user, params.agency)).packages.rollBack(params.package, body.version),
  );

  route(app, endpoints.getSettings, async (call) => (await requireAgent(call)).code.readSettings());

  route(app, endpoints.putSettings, async (call) => (await requireAgent(call)).code.putSettings(call.body.settings));

  route(app, endpoints.getAgentCode, async (call) => (await requireAgent(call)).code.describe());

  route(app, endpoints.listAgentLogs, async (call) => (await requireAgent(call)).code.readLog(call.query));
}
