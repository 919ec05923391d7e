import { z } from "zod";
import { askedCallSchema } from "./approval.ts";
import { channelMessageSchema } from "./channel.ts";
import { workflowReasons } from "./choices.ts";
import { toolCallSchema } from "./message.ts";
import { teamAgentSchema } from "./team.ts";
import { usageSchema } from "./turn-usage.ts";
import { workflowRunSchema } from "./workflow-run.ts";

/** Builds the schema of the events of `POST /run`. A function, because only the OpenAPI document needs it. */
export function createJobEventSchema() {
  const agent = z.string();
  return z
    .discriminatedUnion("type", [
      z.object({ agent, type: z.literal("chunk"), text: z.string() }),
      z.object({ agent, type: z.literal("reasoning"), text: z.string() }),
      z.object({ agent, type: z.literal("tool_call"), call: toolCallSchema }),
      z.object({
        agent,
        type: z.literal("tool_result"),
        callId: z.string(),
        name: z.string(),
        output: z.string(),
        failed: z.boolean().optional(),
      }),
      z
        .object({
          agent,
          type: z.literal("approval"),
          approvalId: z.string(),
          runId: z.string(),
          calls: z.array(askedCallSchema),
          digest: z.string(),
          expiresAt: z.string(),
        })
        .describe("Calls need a person's approval. The stream goes on when it is given, here or elsewhere."),
      z
        .object({
          agent,
          type: z.literal("question"),
          continuationId: z.string(),
          runId: z.string(),
          prompt: z.string(),
          schema: z.record(z.string(), z.unknown()).optional(),
        })
        .describe("The agent asks its user. The stream goes on with the answer."),
      z
        .object({ agent, type: z.literal("message"), message: channelMessageSchema })
        .describe("In a workflow: somebody has written to a channel."),
      z
        .object({ agent, type: z.literal("status"), status: teamAgentSchema })
        .describe("In a workflow: what an agent does has changed."),
      z
        .object({
          agent,
          type: z.literal("turn_end"),
          runId: z.string(),
          status: z.enum(["completed", "error", "canceled"]),
          content: z.string(),
        })
        .describe("In a workflow: a turn of an agent is over, and others may follow."),
      z.object({ agent, type: z.literal("retrying"), error: z.string(), retryIn: z.number() }),
      z.object({
        agent,
        type: z.literal("done"),
        runId: z.string(),
        status: z.enum(["completed", "canceled", "failed", "stopped"]),
        content: z.string(),
        finishReason: z.string().optional(),
        reason: z.enum(workflowReasons).optional().meta({ description: "Why a workflow ended." }),
        message: z.string().optional().meta({ description: "The reason in words." }),
        usage: usageSchema.optional(),
        run: workflowRunSchema.optional().meta({ description: "The run of a workflow as it ended." }),
      }),
      z.object({
        agent,
        type: z.literal("error"),
        runId: z.string().optional(),
        code: z.string(),
        message: z.string(),
        advice: z.string().optional(),
      }),
    ])
    .meta({ id: "JobEvent", description: "An event of a job, with the agent it comes from." });
}

/** The events of `POST /run`, each with its agent. */
export type JobEvent = z.infer<ReturnType<typeof createJobEventSchema>>;
