import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Env } from "../../objects/env.ts";
import { readTransfer } from "../../objects/transfer.ts";
import { enterAgency } from "../directory.ts";
import { checkFetchDestination } from "../fetch-destination.ts";
import { toBlobResponse } from "../response.ts";
import { type HonoEnv, route } from "../route.ts";

interface AgencyCall {
  env: Env;
  caller: { user: string };
  params: { agency: string };
}

const open = async ({ env, caller, params }: AgencyCall) =>
  (await enterAgency(env, caller.user, params.agency)).resources;

/** Large contents that the members of an agency share. */
export function addResourceRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listResources, async (call) => (await open(call)).list(call.query));

  route(app, endpoints.createResource, async (call) => (await open(call)).create(call.body, call.caller.user));

  route(app, endpoints.readResource, async (call) => {
    checkFetchDestination(call.request, call.caller, "file");
    const { resource, content } = await (await open(call)).read(call.params.hash);
    return toBlobResponse(await readTransfer(content), resource.type);
  });
}
