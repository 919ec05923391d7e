import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Env } from "../../objects/env.ts";
import { flushReports } from "../../objects/usage-reports.ts";
import type { Caller } from "../authenticate.ts";
import { enterAgency } from "../directory.ts";
import { hideUserBudget } from "../hide-user-budget.ts";
import { type HonoEnv, route } from "../route.ts";

/** The usage and budget of an agency. */
export function addUsageRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.getAgencyUsage, async (call) => {
    const { budget, ...usage } = await (await requireUpToDateAgency(call)).usage.get(call.query.days);
    return { ...usage, budget: hideUserBudget(call.caller, budget) };
  });

  route(app, endpoints.getAgencyBudget, async (call) => {
    const { budget, statuses } = await (await requireUpToDateAgency(call)).usage.getBudget();
    return { budget, statuses: hideUserBudget(call.caller, statuses) };
  });

  route(app, endpoints.putAgencyBudget, async (call) => (await requireUpToDateAgency(call)).usage.setBudget(call.body));

  route(app, endpoints.deleteAgencyBudget, async (call) => {
    await (await requireAgency(call)).usage.setBudget(undefined);
    return undefined;
  });
}

/** Flushes pending usage reports first, so that the totals are current. */
async function requireUpToDateAgency(call: Parameters<typeof requireAgency>[0]) {
  const agency = await requireAgency(call);
  await flushReports(call.env);
  return agency;
}

async function requireAgency({ env, caller, params }: { env: Env; caller: Caller; params: { agency: string } }) {
  return enterAgency(env, caller.user, params.agency);
}
