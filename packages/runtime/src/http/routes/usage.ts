import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Env } from "../../objects/env.ts";
import { stateGathered } from "../../objects/statements.ts";
import type { Caller } from "../authenticate.ts";
import { enterAgency } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

/** What an agency has spent and may spend. */
export function usageRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.getAgencyUsage, async (call) => (await stated(call)).usage(call.query.days));

  route(app, endpoints.getAgencyBudget, async (call) => (await stated(call)).getBudget());

  route(app, endpoints.putAgencyBudget, async (call) => (await stated(call)).setBudget(call.body));

  route(app, endpoints.deleteAgencyBudget, async (call) => {
    await (await entered(call)).setBudget(undefined);
    return undefined;
  });
}

/** With all that its agents have spent by now in its books. */
async function stated(call: Parameters<typeof entered>[0]) {
  const agency = await entered(call);
  await stateGathered(call.env);
  return agency;
}

async function entered({ env, caller, params }: { env: Env; caller: Caller; params: { agency: string } }) {
  await enterAgency(env, caller.user, params.agency);
  return env.Agency.getByName(params.agency);
}
