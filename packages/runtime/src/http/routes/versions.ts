import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { requireAgent } from "../directory.ts";
import { revertFiles } from "../files/handlers.ts";
import { toJsonResponse } from "../response.ts";
import { type HonoEnv, route } from "../route.ts";

/** The versions and branches of an agent's workspace. */
export function addVersionRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listVersions, async (call) => (await requireAgent(call)).files.listVersions(call.query));

  route(app, endpoints.getVersion, async (call) =>
    (await requireAgent(call)).files.diff(Number(call.params.version), call.query.path),
  );

  route(app, endpoints.revert, async (call) => revertFiles((await requireAgent(call)).files, call, call.body));

  route(app, endpoints.listBranches, async (call) => ({
    branches: await (await requireAgent(call)).files.listBranches(),
  }));

  route(app, endpoints.createBranch, async (call) =>
    (await requireAgent(call)).files.createBranch(call.body, call.caller.user),
  );

  route(app, endpoints.deleteBranch, async (call) => {
    await (await requireAgent(call)).files.removeBranch(call.params.branch, call.caller.user);
    return undefined;
  });

  route(app, endpoints.mergeBranch, async (call) => {
    const merged = await (await requireAgent(call)).files.mergeBranch(call.params.branch, call.body, call.caller.user);
    return toJsonResponse(merged, merged.version ? 201 : 200);
  });
}
