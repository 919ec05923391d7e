import { defineTool, scheduleWhenSchema } from "@thinkery/sdk";
import { z } from "zod";

export const schedule = {
  ...defineTool(
    {
      name: "schedule",
      description:
        "Get `input` as a message from the user later: in `when` seconds, at an ISO date, or repeatedly by cron expression or {every: seconds}.",
      inputSchema: z.object({
        when: scheduleWhenSchema,
        input: z.string().trim().min(1).max(100_000),
        timeZone: z.string().min(1).max(100).optional(),
      }),
      action: "schedule",
      idempotent: true,
    },
    async ({ when, input, timeZone }, { schedules }) => {
      const { id, next } = await schedules.create({ when, input, ...(timeZone === undefined ? {} : { timeZone }) });
      return { id, next };
    },
  ),
  // Every model call contains this, so it is shorter than what the schema would give.
  parameters: {
    type: "object",
    properties: {
      when: {
        anyOf: [{ type: "number" }, { type: "string" }, { type: "object", properties: { every: { type: "number" } } }],
      },
      input: { type: "string" },
      timeZone: { type: "string" },
    },
    required: ["when", "input"],
  },
};
