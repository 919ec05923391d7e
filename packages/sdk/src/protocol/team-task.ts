import { z } from "zod";
import { taskStatuses } from "./choices.ts";
import { agentNameSchema } from "./name-schemas.ts";
import { nextSchema, pageQuerySchema } from "./page.ts";
import { newTaskSchema, taskChangeSchema, taskProgressSchema, taskSchema } from "./task.ts";

/** A task that the members of an agency share. */
export const teamTaskSchema = taskSchema
  .omit({ assignedTo: true, metadata: true })
  .extend({
    createdBy: z.string(),
    claimedBy: z
      .string()
      .optional()
      .meta({ description: "Who works on it, or did when it ended. Nobody else can claim it meanwhile." }),
    claimedUntil: z
      .string()
      .optional()
      .meta({ description: "When the claim of an agent ends, unless a turn of it renews the claim." }),
  })
  .meta({ id: "TeamTask" });

export type TeamTask = z.infer<typeof teamTaskSchema>;

export const newTeamTaskSchema = newTaskSchema
  .extend({
    idempotencyKey: z.string().min(1).max(200).optional().meta({ description: "The same key again is the same task." }),
  })
  .meta({ id: "NewTeamTask" });

export type NewTeamTask = z.infer<typeof newTeamTaskSchema>;

export const createdTeamTaskSchema = teamTaskSchema.extend({ taskId: z.string() });

export const teamTaskChangeSchema = taskChangeSchema.meta({ id: "TeamTaskChange" });

export const teamTaskClaimSchema = z
  .strictObject({
    agent: agentNameSchema
      .optional()
      .meta({ description: "Claim it for this agent, and tell it. Defaults to the caller." }),
  })
  .meta({ id: "TeamTaskClaim" });

export type TeamTaskClaim = z.infer<typeof teamTaskClaimSchema>;

export const teamTaskQuerySchema = pageQuerySchema.extend({
  status: z.enum([...taskStatuses, "open", "all"]).default("all"),
});

export type TeamTaskQuery = z.infer<typeof teamTaskQuerySchema>;

export const teamTaskListSchema = z.object({
  tasks: z.array(teamTaskSchema).meta({ description: "Oldest first." }),
  progress: taskProgressSchema.meta({ description: "Of all shared tasks, not just those of this list." }),
  next: nextSchema,
});

export type TeamTaskList = z.infer<typeof teamTaskListSchema>;
