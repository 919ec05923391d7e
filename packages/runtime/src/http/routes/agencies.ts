import { type AgencyDetails, endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Caller } from "../authenticate.ts";
import { enterAgency, forgetAgency, forgetMember } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

export function addAgencyRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listAgencies, ({ env, caller, query }) =>
    env.User.getByName(caller.user).listAllAgencies(query),
  );

  route(app, endpoints.createAgency, ({ env, caller, body }) => env.User.getByName(caller.user).createAgency(body));

  route(app, endpoints.deleteAgency, async ({ env, caller, params }) => {
    forgetAgency(caller.user, params.agency);
    await env.User.getByName(caller.user).deleteAgency(params.agency);
    forgetAgency(caller.user, params.agency);
    return undefined;
  });

  route(app, endpoints.getAgency, async ({ env, caller, params }) =>
    toSeen(caller, params.agency, await (await enterAgency(env, caller.user, params.agency)).settings.get()),
  );

  route(app, endpoints.updateAgency, async ({ env, caller, params, body }) =>
    toSeen(caller, params.agency, await (await enterAgency(env, caller.user, params.agency)).settings.update(body)),
  );

  route(app, endpoints.listMembers, async ({ env, caller, params, query }) =>
    (await enterAgency(env, caller.user, params.agency)).members.list(query),
  );

  route(app, endpoints.putMember, async ({ env, caller, params, body }) => {
    const agency = await enterAgency(env, caller.user, params.agency);
    const forget = () => forgetMember(caller.user, params.agency, params.user);
    forget();
    return agency.members.put(params.user, body.scopes).finally(forget);
  });

  route(app, endpoints.deleteMember, async ({ env, caller, params }) => {
    const agency = await enterAgency(env, caller.user, params.agency);
    const forget = () => forgetMember(caller.user, params.agency, params.user);
    forget();
    await agency.members.remove(params.user).finally(forget);
    return undefined;
  });
}

/** Returns an agency under the name that the caller uses for it, and for members with what they may do. */
function toSeen(caller: Caller, agency: string, details: AgencyDetails): AgencyDetails {
  return { ...details, id: agency, ...(caller.isMember ? { scopes: caller.scopes } : {}) };
}
