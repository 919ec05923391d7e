import type { NewSchedule, Schedule } from "../protocol/schedule.ts";

/** The agent's schedules, as a tool sees them. A sub-agent has none. */
export interface Schedules {
  /** Creates a schedule. The same call gets the same schedule again. */
  create(schedule: Pick<NewSchedule, "when" | "input" | "timeZone">): Promise<Schedule>;
}
