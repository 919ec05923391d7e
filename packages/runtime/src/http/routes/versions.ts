import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { requireAgent as entered } from "../directory.ts";
import { toJsonResponse } from "../response.ts";
import { type HonoEnv, route } from "../route.ts";

/** What a workspace was, and how it came to be what it is. */
export function addVersionRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listVersions, async (call) => (await entered(call)).files.listVersions(call.query));

  route(app, endpoints.getVersion, async (call) =>
    (await entered(call)).files.diff(Number(call.params.version), call.query.path),
  );

  route(app, endpoints.revert, async (call) => {
    const merged = await (await entered(call)).files.revert(call.body, call.caller.user);
    return toJsonResponse(merged, merged.version ? 201 : 200);
  });

  route(app, endpoints.listBranches, async (call) => ({ branches: await (await entered(call)).files.listBranches() }));

  route(app, endpoints.createBranch, async (call) =>
    (await entered(call)).files.createBranch(call.body, call.caller.user),
  );

  route(app, endpoints.deleteBranch, async (call) => {
    await (await entered(call)).files.removeBranch(call.params.branch, call.caller.user);
    return undefined;
  });

  route(app, endpoints.mergeBranch, async (call) => {
    const merged = await (await entered(call)).files.mergeBranch(call.params.branch, call.body, call.caller.user);
    return toJsonResponse(merged, merged.version ? 201 : 200);
  });
}
