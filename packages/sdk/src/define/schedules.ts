import type { NewSchedule, Schedule, ScheduleList, ScheduleRun } from "../protocol/schedule.ts";

/** The agent's schedules, as a tool sees them. A sub-agent has none. */
export interface Schedules {
  /** Creates a schedule. The same call gets the same schedule again. */
  create(schedule: Pick<NewSchedule, "when" | "input" | "timeZone">): Promise<Schedule>;
  /** Returns a page of the schedules, oldest first. `after` is the `next` of the page before. */
  list(page?: { after?: string }): Promise<ScheduleList>;
  setPaused(id: string, paused: boolean): Promise<Schedule>;
  /** Runs a schedule now, in addition to its times: the agent gets the message after this turn. The same call runs it once. */
  run(id: string): Promise<ScheduleRun>;
  delete(id: string): void;
}
