import { z } from "zod";
import { workflowReasons, workflowStatuses } from "./choices.ts";
import { agencyRefSchema, workflowNameSchema } from "./name-schemas.ts";
import { nextSchema, pageQuerySchema } from "./page.ts";
import { usageSchema } from "./turn-usage.ts";
import { variablesSchema, workflowSchema } from "./workflow.ts";

export const tagSchema = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/, "use ASCII letters and digits, with . _ - only between them");

export const workflowRunSchema = z
  .object({
    agency: agencyRefSchema,
    workflow: z.string(),
    tag: z.string().optional(),
    status: z.enum(workflowStatuses),
    reason: z.enum(workflowReasons).optional(),
    message: z.string().optional().meta({ description: "The reason in words." }),
    agents: z.array(z.string()),
    resident: z.boolean().meta({ description: "Goes on when everyone is idle, until it is stopped." }),
    kickoff: z.string().optional(),
    result: z.string().optional().meta({ description: "The last reply." }),
    turns: z.number(),
    usage: usageSchema,
    startedBy: z.string(),
    startedAt: z.string(),
    resumedAt: z.string().optional().meta({ description: "When it last went on after it was stopped." }),
    endedAt: z.string().optional(),
  })
  .meta({ id: "WorkflowRun", description: "A run of a workflow. It is an agency with the agents of the workflow." });

export type WorkflowRun = z.infer<typeof workflowRunSchema>;

export const workflowRunListSchema = z.object({ runs: z.array(workflowRunSchema), next: nextSchema });

export const workflowRunQuerySchema = pageQuerySchema.extend({
  status: z.enum([...workflowStatuses, "open", "all"]).default("all"),
});

export const newWorkflowRunSchema = z
  .strictObject({
    workflow: z
      .union([workflowNameSchema, workflowSchema])
      .meta({ description: "The name of a stored workflow, or one." }),
    tag: tagSchema.optional().meta({ description: "Separates runs. The same tag again is the same agency." }),
    vars: variablesSchema.optional().meta({ description: "Override those of the workflow." }),
    message: z.string().max(100_000).optional().meta({ description: "In place of the kickoff." }),
    resident: z.boolean().default(false),
    resolved: z
      .boolean()
      .default(false)
      .meta({ description: "The placeholders were replaced already; those that are left are text." }),
    idempotencyKey: z.string().min(1).max(200).optional().meta({ description: "The same key again is the same run." }),
  })
  .meta({ id: "NewWorkflowRun" });

export type NewWorkflowRun = z.infer<typeof newWorkflowRunSchema>;
