import { z } from "zod";
import { taskStatuses, taskTypes } from "./choices.ts";
import { nextSchema, pageQuerySchema } from "./page.ts";

const taskIdSchema = z.string().min(1).max(200);
const titleSchema = z.string().trim().min(1).max(200);
const textSchema = z.string().max(20_000);
const dependenciesSchema = z
  .array(taskIdSchema)
  .max(50)
  .meta({ description: "Tasks that must be complete before this one can start." });

/** A node of an agent's task graph. */
export const taskSchema = z
  .object({
    id: z.string(),
    parentId: z.string().optional().meta({ description: "Absent for the root of a tree." }),
    type: z.enum(taskTypes),
    title: z.string(),
    description: z.string().optional(),
    status: z.enum(taskStatuses),
    dependencies: dependenciesSchema,
    result: z.string().optional(),
    error: z.string().optional(),
    assignedTo: z.string().optional().meta({ description: "The sub-agent that works on it." }),
    createdAt: z.number().meta({ description: "Milliseconds since 1970." }),
    startedAt: z.number().optional(),
    completedAt: z.number().optional().meta({ description: "When it was completed, failed or was cancelled." }),
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({
    id: "Task",
    description: "A task. Every message to the agent is the root of a tree: its id is the `runId`.",
  });

export type Task = z.infer<typeof taskSchema>;

export const newTaskSchema = z
  .strictObject({
    title: titleSchema,
    type: z.enum(taskTypes).default("code"),
    description: textSchema.optional(),
    dependencies: dependenciesSchema.optional(),
    parentId: taskIdSchema.optional(),
  })
  .meta({ id: "NewTask" });

export type NewTask = z.infer<typeof newTaskSchema>;

export const createdTaskSchema = taskSchema.extend({ taskId: z.string().meta({ description: "The same as `id`." }) });

export const taskChangeSchema = z
  .strictObject({
    status: z.enum(taskStatuses).optional(),
    result: textSchema.optional(),
    error: textSchema.optional(),
    dependencies: dependenciesSchema.optional(),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    error: "give status, result, error or dependencies",
  })
  .meta({ id: "TaskChange" });

export type TaskChange = z.infer<typeof taskChangeSchema>;

export const taskProgressSchema = z
  .object({
    total: z.number(),
    pending: z.number(),
    inProgress: z.number(),
    blocked: z.number(),
    complete: z.number(),
    failed: z.number(),
    cancelled: z.number(),
    percentComplete: z.number().meta({ description: "Rounded." }),
  })
  .meta({ id: "TaskProgress" });

export type TaskProgress = z.infer<typeof taskProgressSchema>;

export const taskQuerySchema = pageQuerySchema.extend({
  archived: z
    .literal("1")
    .optional()
    .meta({ description: "List the archive: finished trees, except the latest 20. Otherwise all others are listed." }),
});

export type TaskQuery = z.infer<typeof taskQuerySchema>;

export const taskListSchema = z.object({
  tasks: z.array(taskSchema).meta({ description: "Whole trees, the newest first. A parent is before its subtasks." }),
  progress: taskProgressSchema.meta({ description: "Of all listed trees, not just those of this page." }),
  next: nextSchema,
});

export type TaskList = z.infer<typeof taskListSchema>;
