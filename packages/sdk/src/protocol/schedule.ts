import { z } from "zod";
import { missedPolicies, overlapPolicies, scheduleOutcomes, scheduleRunStatuses } from "./choices.ts";
import { agentNameSchema } from "./name-schemas.ts";
import { nextSchema } from "./page.ts";

const maxInputChars = 100_000;
const secondsPerYear = 366 * 24 * 3600;

const everySchema = z.strictObject({
  every: z
    .number()
    .int({ error: "give whole seconds" })
    .min(1, { error: "must be at least 1 second" })
    .max(100 * secondsPerYear)
    .meta({ description: "Seconds." }),
});

const forms =
  "give seconds from now, an ISO date, a cron expression such as “0 9 * * 1-5”, or { every: seconds } with at least 1 whole second";

/** When a schedule is due. */
export const scheduleWhenSchema = z
  .union(
    [
      z
        .number()
        .min(0)
        .max(100 * secondsPerYear),
      z.string().trim().min(1).max(200),
      everySchema,
    ],
    { error: forms },
  )
  .meta({
    description:
      "Seconds from now, an ISO date (once), a cron expression with five fields or six with seconds, or {every: seconds}.",
  });

export type ScheduleWhen = z.infer<typeof scheduleWhenSchema>;

const timeZoneSchema = z
  .string()
  .min(1)
  .max(100)
  .meta({ description: "For cron, and for dates without an offset: a name such as Europe/Berlin. Defaults to UTC." });

export const newScheduleSchema = z
  .strictObject({
    when: scheduleWhenSchema,
    input: z
      .string()
      .refine((text) => text.trim() !== "", { error: "must not be empty" })
      .max(maxInputChars)
      .meta({ description: "The message that the agent gets." }),
    timeZone: timeZoneSchema.optional(),
    name: z.string().trim().min(1).max(120).optional(),
    missed: z.enum(missedPolicies).default("once").meta({
      description:
        "What happens with times that passed while the host was down: nothing, one run for all of them, or all runs.",
    }),
    overlap: z
      .enum(overlapPolicies)
      .default("queue")
      .meta({ description: "Whether a run waits for the previous one or is skipped while that is not over." }),
    maxDelaySeconds: z
      .number()
      .int()
      .min(1)
      .max(10 * secondsPerYear)
      .optional()
      .meta({ description: "A run that would be later than this is missed." }),
    idempotencyKey: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: "Requests with the same key create only one schedule." }),
  })
  .meta({ id: "NewSchedule" });

export type NewSchedule = z.infer<typeof newScheduleSchema>;

/** When a schedule would run, without creating it. */
export const schedulePreviewSchema = newScheduleSchema
  .pick({ when: true, timeZone: true })
  .meta({ id: "SchedulePreview" });

export type SchedulePreview = z.infer<typeof schedulePreviewSchema>;

export const newAgencyScheduleSchema = newScheduleSchema
  .extend({ agent: agentNameSchema.meta({ description: "The agent that gets the input." }) })
  .meta({ id: "NewAgencySchedule" });

export type NewAgencySchedule = z.infer<typeof newAgencyScheduleSchema>;

export const scheduleRunSchema = z
  .object({
    dueAt: z.iso.datetime(),
    status: z.enum(scheduleRunStatuses).meta({
      description:
        "`ran` means that its turn was admitted, `missed` that it was too late, `skipped` that the previous run was not over, `failed` that the agent did not accept it.",
    }),
    runId: z.string().optional().meta({ description: "Its turn." }),
    outcome: z.enum(scheduleOutcomes).optional().meta({ description: "How the turn ended. Missing until then." }),
    error: z.string().optional(),
    manual: z.boolean().optional().meta({ description: "It was run by request." }),
    count: z.number().optional().meta({ description: "Of an entry for several missed times: how many there were." }),
    isMore: z.boolean().optional().meta({ description: "There were more than `count`." }),
    until: z.iso.datetime().optional().meta({ description: "The last of several missed times." }),
    at: z.iso.datetime().meta({ description: "When this was decided." }),
  })
  .meta({ id: "ScheduleRun" });

export type ScheduleRun = z.infer<typeof scheduleRunSchema>;

export const scheduleSchema = z
  .object({
    id: z.string(),
    name: z.string().optional(),
    agent: z.string().optional().meta({ description: "The agent that gets the input, of an agency's schedule." }),
    when: scheduleWhenSchema,
    timeZone: z.string().optional(),
    input: z.string(),
    missed: z.enum(missedPolicies),
    overlap: z.enum(overlapPolicies),
    maxDelaySeconds: z.number().optional(),
    paused: z.boolean(),
    nextAt: z.iso.datetime().nullable().meta({ description: "Null if it is paused or never due again." }),
    next: z.array(z.iso.datetime()).meta({ description: "The next times, at most five." }),
    history: z.array(scheduleRunSchema).meta({ description: "The latest runs, newest first." }),
    createdBy: z.string(),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: "Schedule" });

export type Schedule = z.infer<typeof scheduleSchema>;

export const scheduleListSchema = z.object({ schedules: z.array(scheduleSchema), next: nextSchema });

export const scheduleTimesSchema = scheduleSchema.pick({ next: true });

export type ScheduleTimes = z.infer<typeof scheduleTimesSchema>;

export type ScheduleList = z.infer<typeof scheduleListSchema>;

export const scheduleChangeSchema = z.strictObject({ paused: z.boolean() }).meta({ id: "ScheduleChange" });

export type ScheduleChange = z.infer<typeof scheduleChangeSchema>;

export const scheduleRunListSchema = z.object({
  runs: z.array(scheduleRunSchema).meta({ description: "Newest first." }),
  next: nextSchema,
});

export type ScheduleRunList = z.infer<typeof scheduleRunListSchema>;
