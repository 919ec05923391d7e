import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgency } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

/** What the agents and people of an agency think of how things go. */
export function addFeedbackRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listFeedback, async ({ env, caller, params, query }) =>
    (await enterAgency(env, caller.user, params.agency)).feedback.list(query),
  );

  route(app, endpoints.createFeedback, async ({ env, caller, params, body }) => {
    const { feedback } = await enterAgency(env, caller.user, params.agency);
    return feedback.create(body, { kind: "user", name: caller.user }, { key: body.idempotencyKey });
  });
}
