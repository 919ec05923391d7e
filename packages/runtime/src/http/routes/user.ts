import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Env } from "../../objects/env.ts";
import { flushReports } from "../../objects/usage-reports.ts";
import { type HonoEnv, route } from "../route.ts";

/** The caller's profile, agents, preferences, usage and budget. */
export function addUserRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.getUser, ({ env, caller }) => env.User.getByName(caller.user).describe());

  route(app, endpoints.listUserAgents, ({ env, caller, query }) => env.User.getByName(caller.user).listAgents(query));

  route(app, endpoints.getPreferences, ({ env, caller }) => env.User.getByName(caller.user).getPreferences());

  route(app, endpoints.putPreferences, ({ env, caller, body }) => env.User.getByName(caller.user).putPreferences(body));

  route(app, endpoints.getUserUsage, async ({ env, caller, query }) =>
    (await getUpToDateUser(env, caller.user)).usage.get(query.days),
  );

  route(app, endpoints.getUserBudget, async ({ env, caller }) =>
    (await getUpToDateUser(env, caller.user)).usage.getBudget(),
  );

  route(app, endpoints.putUserBudget, async ({ env, caller, body }) =>
    (await getUpToDateUser(env, caller.user)).usage.setBudget(body),
  );

  route(app, endpoints.deleteUserBudget, async ({ env, caller }) => {
    await env.User.getByName(caller.user).usage.setBudget(undefined);
    return undefined;
  });
}

/** Flushes pending usage reports first, so that the totals are current. */
async function getUpToDateUser(env: Env, user: string) {
  await flushReports(env);
  return env.User.getByName(user);
}
