import { endpoints } from "@thinkery/sdk";
import type { Hono } from "hono";
import type { Env } from "../../objects/env.ts";
import type { Caller } from "../authenticate.ts";
import { enterAgency, requireAgent } from "../directory.ts";
import { type HonoEnv, route } from "../route.ts";

interface AgencyCall {
  env: Env;
  caller: Caller;
  params: { agency: string };
}

const ofAgent = async (call: Parameters<typeof requireAgent>[0]) => (await requireAgent(call)).schedules;

const ofAgency = async ({ env, caller, params }: AgencyCall) =>
  (await enterAgency(env, caller.user, params.agency)).schedules;

/** The schedules of agents and of agencies. */
export function addScheduleRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.listSchedules, async (call) => (await ofAgent(call)).list(call.query));

  route(app, endpoints.createSchedule, async (call) =>
    (await ofAgent(call)).create(call.body, { user: call.caller.user }),
  );

  route(app, endpoints.previewSchedule, async (call) => (await ofAgent(call)).preview(call.body));

  route(app, endpoints.getSchedule, async (call) => (await ofAgent(call)).get(call.params.schedule));

  route(app, endpoints.updateSchedule, async (call) => (await ofAgent(call)).update(call.params.schedule, call.body));

  route(app, endpoints.deleteSchedule, async (call) => {
    await (await ofAgent(call)).delete(call.params.schedule);
    return undefined;
  });

  route(app, endpoints.runSchedule, async (call) => (await ofAgent(call)).run(call.params.schedule));

  route(app, endpoints.listScheduleRuns, async (call) =>
    (await ofAgent(call)).listRuns(call.params.schedule, call.query),
  );

  route(app, endpoints.listAgencySchedules, async (call) => (await ofAgency(call)).list(call.query));

  route(app, endpoints.createAgencySchedule, async (call) => {
    const { agent, ...schedule } = call.body;
    return (await ofAgency(call)).create(schedule, { user: call.caller.user, agent });
  });

  route(app, endpoints.getAgencySchedule, async (call) => (await ofAgency(call)).get(call.params.schedule));

  route(app, endpoints.updateAgencySchedule, async (call) =>
    (await ofAgency(call)).update(call.params.schedule, call.body),
  );

  route(app, endpoints.deleteAgencySchedule, async (call) => {
    await (await ofAgency(call)).delete(call.params.schedule);
    return undefined;
  });

  route(app, endpoints.runAgencySchedule, async (call) => (await ofAgency(call)).run(call.params.schedule));

  route(app, endpoints.listAgencyScheduleRuns, async (call) =>
    (await ofAgency(call)).listRuns(call.params.schedule, call.query),
  );
}
