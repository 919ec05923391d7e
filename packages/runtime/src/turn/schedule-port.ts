import type { NewSchedule, Schedule } from "@thinkery/sdk";

/** What a turn needs of its agent's schedules. */
export interface SchedulePort {
  create(schedule: Pick<NewSchedule, "when" | "input" | "timeZone" | "idempotencyKey">): Promise<Schedule>;
}
