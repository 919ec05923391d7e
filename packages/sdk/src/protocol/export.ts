import { z } from "zod";
import { actionSchema } from "./action.ts";
import { agentSchema } from "./agent.ts";
import { appSchema } from "./app.ts";
import { approvalSchema } from "./approval.ts";
import { eventSchema } from "./event.ts";
import { messageSchema } from "./message.ts";
import { scheduleSchema } from "./schedule.ts";
import { subagentSchema } from "./subagent.ts";
import { taskSchema } from "./task.ts";
import { runSchema, todoSchema } from "./turn.ts";
import { agentUsageSchema } from "./usage.ts";

/** A whole agent in one value. Large contents stay in the blob store and are referenced by hash. */
export const agentExportSchema = z
  .object({
    format: z.literal("thinkery-agent"),
    version: z.literal(1),
    agent: agentSchema,
    title: z.string().optional(),
    todos: z.array(todoSchema),
    app: appSchema.optional(),
    tasks: z
      .array(taskSchema)
      .optional()
      .meta({ description: "Without the root tasks of messages, which are the runs." }),
    run: runSchema,
    messages: z.array(messageSchema),
    events: z.array(eventSchema),
    actions: z.array(actionSchema),
    usage: agentUsageSchema,
    subagents: z.array(subagentSchema).optional(),
    approvals: z.array(approvalSchema).optional(),
    schedules: z.array(scheduleSchema).optional(),
    code: z
      .object({
        version: z.number(),
        state: z.record(z.string(), z.unknown()),
        settings: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
      })
      .optional()
      .meta({ description: "What an agent that is made of code keeps." }),
    codeValues: z
      .array(z.object({ key: z.string(), value: z.unknown() }))
      .optional()
      .meta({ description: "What such an agent has stored, by key." }),
  })
  .meta({ id: "AgentExport" });

export type AgentExport = z.infer<typeof agentExportSchema>;
