import type { NewSchedule, Schedule, ScheduleList, ScheduleRun } from "@thinkery/sdk";

/** What a turn needs of its agent's schedules. */
export interface SchedulePort {
  create(schedule: Pick<NewSchedule, "when" | "input" | "timeZone" | "idempotencyKey">): Promise<Schedule>;
  list(after: string | undefined): Promise<ScheduleList>;
  setPaused(id: string, paused: boolean): Promise<Schedule>;
  /** The same key twice is the same run. */
  run(id: string, key: string): Promise<ScheduleRun>;
  delete(id: string): void;
}
