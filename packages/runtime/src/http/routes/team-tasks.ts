import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Actor } from "../../agency/actor.ts";
import { enterAgency } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

const toActor = ({ user }: { user: string }): Actor => ({ kind: "user", name: user });

/** The tasks that the members of an agency share. */
export function addTeamTaskRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listTeamTasks, async ({ env, caller, params, query }) =>
    (await enterAgency(env, caller.user, params.agency)).sharedTasks.list(query),
  );

  route(app, endpoints.createTeamTask, async ({ env, caller, params, body }) => {
    const { sharedTasks } = await enterAgency(env, caller.user, params.agency);
    const task = await sharedTasks.create(body, toActor(caller), body.idempotencyKey);
    return { ...task, taskId: task.id };
  });

  route(app, endpoints.updateTeamTask, async ({ env, caller, params, body }) =>
    (await enterAgency(env, caller.user, params.agency)).sharedTasks.update(params.task, body, toActor(caller)),
  );

  route(app, endpoints.claimTeamTask, async ({ env, caller, params, body }) =>
    (await enterAgency(env, caller.user, params.agency)).sharedTasks.claim(params.task, toActor(caller), body.agent),
  );
}
