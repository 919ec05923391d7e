import type { Schedules } from "@thinkery/sdk";
import type { StepContext } from "./step-context.ts";

/** Opens the agent's schedules for one tool call. */
export function openSchedules(callId: string, { deps, runId, record }: StepContext): Schedules {
  const { schedules, tools } = deps;
  // A call that a crash interrupted is executed again.
  const key = `call:${runId}:${callId}`;
  return {
    async create(schedule) {
      record();
      const created = await schedules.create({ ...schedule, idempotencyKey: key });
      tools.enable("schedules");
      return created;
    },
    list: ({ after } = {}) => schedules.list(after),
    async setPaused(id, paused) {
      record();
      return schedules.setPaused(id, paused);
    },
    async run(id) {
      record();
      return schedules.run(id, key);
    },
    delete(id) {
      record();
      schedules.delete(id);
    },
  };
}
