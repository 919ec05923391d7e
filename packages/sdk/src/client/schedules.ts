import type { BodyIn } from "../protocol/endpoint.ts";
import type { Endpoints } from "../protocol/endpoints.ts";
import type { Schedule, ScheduleRun } from "../protocol/schedule.ts";
import type { Caller } from "./caller.ts";
import { createId } from "./create-id.ts";
import { withRetry } from "./with-retry.ts";

/** The schedules of an agent, or of an agency. */
export interface Schedules<NewSchedule> {
  /** Returns all schedules, oldest first, each with its next times and its latest runs. */
  list(): Promise<Schedule[]>;
  get(id: string): Promise<Schedule>;
  /**
   * Creates a schedule.
   *
   * ```ts
   * await agent.schedules().create({ when: "0 9 * * 1-5", timeZone: "Europe/Berlin", input: "What is new?" });
   * ```
   */
  create(schedule: NewSchedule): Promise<Schedule>;
  /** Pauses a schedule. Times that pass meanwhile are not missed. */
  pause(id: string): Promise<Schedule>;
  resume(id: string): Promise<Schedule>;
  /** Runs a schedule now, in addition to its times. */
  run(id: string): Promise<ScheduleRun>;
  /** Returns the latest runs and missed times, newest first. */
  runs(id: string): Promise<ScheduleRun[]>;
  delete(id: string): Promise<void>;
}

export type AgentSchedules = Schedules<BodyIn<Endpoints["createSchedule"]>>;
export type AgencySchedules = Schedules<BodyIn<Endpoints["createAgencySchedule"]>>;

const maxPage = 500;

interface Transport {
  call: Caller["call"];
  retryTimeoutMs: number;
}

export function createAgentSchedules(
  { call, retryTimeoutMs }: Transport,
  params: { agency: string; agent: string },
): AgentSchedules {
  return createSchedules(retryTimeoutMs, {
    list: (query, signal) => call("listSchedules", { params, query, signal }),
    get: (schedule, signal) => call("getSchedule", { params: { ...params, schedule }, signal }),
    create: (body, signal) => call("createSchedule", { params, body, signal }),
    update: (schedule, body, signal) => call("updateSchedule", { params: { ...params, schedule }, body, signal }),
    run: (schedule) => call("runSchedule", { params: { ...params, schedule } }),
    runs: (schedule, query, signal) => call("listScheduleRuns", { params: { ...params, schedule }, query, signal }),
    delete: (schedule) => call("deleteSchedule", { params: { ...params, schedule } }),
  });
}

export function createAgencySchedules({ call, retryTimeoutMs }: Transport, agency: string): AgencySchedules {
  const params = { agency };
  return createSchedules(retryTimeoutMs, {
    list: (query, signal) => call("listAgencySchedules", { params, query, signal }),
    get: (schedule, signal) => call("getAgencySchedule", { params: { ...params, schedule }, signal }),
    create: (body, signal) => call("createAgencySchedule", { params, body, signal }),
    update: (schedule, body, signal) => call("updateAgencySchedule", { params: { ...params, schedule }, body, signal }),
    run: (schedule) => call("runAgencySchedule", { params: { ...params, schedule } }),
    runs: (schedule, query, signal) =>
      call("listAgencyScheduleRuns", { params: { ...params, schedule }, query, signal }),
    delete: (schedule) => call("deleteAgencySchedule", { params: { ...params, schedule } }),
  });
}

interface PageOptions {
  limit: number;
  after?: string;
}

interface ScheduleCalls<NewSchedule> {
  list(query: PageOptions, signal: AbortSignal): Promise<{ schedules: Schedule[]; next?: string | undefined }>;
  get(id: string, signal: AbortSignal): Promise<Schedule>;
  create(schedule: NewSchedule & { idempotencyKey: string }, signal: AbortSignal): Promise<Schedule>;
  update(id: string, change: { paused: boolean }, signal: AbortSignal): Promise<Schedule>;
  run(id: string): Promise<ScheduleRun>;
  runs(id: string, query: PageOptions, signal: AbortSignal): Promise<{ runs: ScheduleRun[] }>;
  delete(id: string): Promise<unknown>;
}

function createSchedules<NewSchedule extends { idempotencyKey?: string | undefined }>(
  retryTimeoutMs: number,
  calls: ScheduleCalls<NewSchedule>,
): Schedules<NewSchedule> {
  const retry = <T>(request: (signal: AbortSignal) => Promise<T>) => withRetry(request, { retryTimeoutMs });
  return {
    async list() {
      const all: Schedule[] = [];
      for (let after: string | undefined; ;) {
        const query = { limit: maxPage, ...(after === undefined ? {} : { after }) };
        const page = await retry((signal) => calls.list(query, signal));
        all.push(...page.schedules);
        if (page.next === undefined) return all;
        after = page.next;
      }
    },
    get: (id) => retry((signal) => calls.get(id, signal)),
    create(schedule) {
      const body = { ...schedule, idempotencyKey: schedule.idempotencyKey ?? createId() };
      return retry((signal) => calls.create(body, signal));
    },
    pause: (id) => retry((signal) => calls.update(id, { paused: true }, signal)),
    resume: (id) => retry((signal) => calls.update(id, { paused: false }, signal)),
    run: (id) => calls.run(id),
    runs: async (id) => (await retry((signal) => calls.runs(id, { limit: maxPage }, signal))).runs,
    delete: async (id) => void (await calls.delete(id)),
  };
}
