import { endpoints, fail, type WorkflowRun } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Env } from "../../objects/env.ts";
import type { System } from "../../system/system.ts";
import type { Caller } from "../authenticate.ts";
import { enterAgency } from "../directory.ts";
import { toEventStreamResponse } from "../response.ts";
import { type HonoEnv, route } from "../route.ts";
import { followRun, prepareRun } from "../workflow-run.ts";

interface RunCall {
  env: Env;
  caller: Caller;
  params: { agency: string };
}

const openRun = async ({ env, caller, params }: RunCall) =>
  (await enterAgency(env, caller.user, params.agency)).workflow;

/** Workflows by name, and their runs. */
export function addWorkflowRoutes(app: Hono<HonoEnv>, system: System): void {
  route(app, endpoints.listWorkflows, ({ env, caller, query }) =>
    env.User.getByName(caller.user).workflows.list(query),
  );

  route(app, endpoints.getWorkflow, ({ env, caller, params }) =>
    env.User.getByName(caller.user).workflows.get(params.workflow),
  );

  route(app, endpoints.putWorkflow, ({ env, caller, params, body }) => {
    if (body.name.toLowerCase() !== params.workflow.toLowerCase())
      throw fail("bad_request", `The workflow is named “${body.name}”, but the path says “${params.workflow}”.`);
    return env.User.getByName(caller.user).workflows.put(body);
  });

  route(app, endpoints.deleteWorkflow, async ({ env, caller, params }) => {
    await env.User.getByName(caller.user).workflows.delete(params.workflow);
    return undefined;
  });

  route(app, endpoints.listWorkflowRuns, ({ env, caller, query }) =>
    env.User.getByName(caller.user).workflows.listRuns(query),
  );

  route(app, endpoints.createWorkflowRun, async ({ env, caller, body }) => {
    const { kickOff } = await prepareRun({ env, system, caller }, body, body.idempotencyKey);
    return kickOff();
  });

  route(app, endpoints.getWorkflowRun, async (call) => toSeen(call, await (await openRun(call)).describe()));

  route(app, endpoints.followWorkflowRun, async ({ env, caller, params }) =>
    toEventStreamResponse(await followRun({ env, system, caller }, params.agency)),
  );

  route(app, endpoints.stopWorkflowRun, async (call) =>
    toSeen(call, await (await openRun(call)).stop(call.caller.user)),
  );

  route(app, endpoints.startWorkflowRun, async (call) =>
    toSeen(call, await (await openRun(call)).resume(call.caller.user)),
  );
}

/** Returns a run with the name that the caller uses for its agency, such as `review:pr-1@bob`. */
const toSeen = ({ params }: RunCall, run: WorkflowRun): WorkflowRun => ({ ...run, agency: params.agency });
