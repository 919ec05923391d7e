import { type AppInfo, endpoints, fail, formatAppAddress } from "@thinkery/sdk";
import type { Hono } from "hono";
import { toAppRequest } from "../app/request.ts";
import { sanitizeAppResponse } from "../app/response.ts";
import { requireAgent } from "../directory.ts";
import { checkFetchDestination } from "../fetch-destination.ts";
import { isUpgrade } from "../guard.ts";
import { type HonoEnv, route } from "../route.ts";

/** Manages an agent's app, and forwards requests to it. */
export function addAppRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.getApp, async (call) => toSeen(call, await (await requireAgent(call)).app.read()));

  route(app, endpoints.putApp, async (call) =>
    toSeen(call, await (await requireAgent(call)).app.put(call.body, call.caller.user)),
  );

  route(app, endpoints.deleteApp, async (call) => {
    await (await requireAgent(call)).app.remove(call.caller.user);
    return undefined;
  });

  for (const endpoint of [
    endpoints.fetchApp,
    endpoints.postToApp,
    endpoints.putToApp,
    endpoints.patchToApp,
    endpoints.deleteToApp,
  ]) {
    route(app, endpoint, async (call) => {
      const agent = await requireAgent(call);
      if (isUpgrade(call.request))
        throw fail("bad_request", "Apps do not support WebSockets. Use plain HTTP requests.");
      checkFetchDestination(call.request, call.caller, "app");
      const request = await toAppRequest(call.request);
      const { url } = request;
      // A shutdown of the host does not wait for apps.
      call.release();
      return sanitizeAppResponse(
        await agent.fetchApp(request),
        url,
        formatAppAddress(call.params.agency, call.params.agent),
      );
    });
  }
}

/** Returns an app with its address for the caller, who may have another name for the agency than its owner. */
function toSeen({ params }: { params: { agency: string; agent: string } }, app: AppInfo): AppInfo {
  return { ...app, address: formatAppAddress(params.agency, params.agent) };
}
