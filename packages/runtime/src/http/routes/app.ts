import { formatAppAddress, endpoints, fail } from "@thinkery/sdk";
import type { Hono } from "hono";
import { toAppRequest } from "../app/request.ts";
import { sanitizeAppResponse } from "../app/response.ts";
import { requireAgent as entered } from "../directory.ts";
import { checkFetchDestination } from "../fetch-destination.ts";
import { isUpgrade } from "../guard.ts";
import { type HonoEnv, route } from "../route.ts";

/** An agent's app: setting it, and reaching it. */
export function addAppRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.getApp, async (call) => (await entered(call)).app.read());

  route(app, endpoints.putApp, async (call) => (await entered(call)).app.put(call.body, call.caller.user));

  route(app, endpoints.deleteApp, async (call) => {
    await (await entered(call)).app.remove(call.caller.user);
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
      const agent = await entered(call);
      if (isUpgrade(call.request)) throw fail("bad_request", "An app takes no WebSockets; ask it with plain requests.");
      checkFetchDestination(call.request, call.caller, "app");
      const request = await toAppRequest(call.request);
      const { url } = request;
      // Nothing that an app does is worth waiting for when the host stops.
      call.release();
      return sanitizeAppResponse(
        await agent.fetchApp(request),
        url,
        formatAppAddress(call.params.agency, call.params.agent),
      );
    });
  }
}
