import { z } from "zod";
import { askedCallSchema } from "./approval.ts";
import { toolCallSchema } from "./message.ts";

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
      z.object({ agent, type: z.literal("retrying"), error: z.string(), retryIn: z.number() }),
      z.object({
        agent,
        type: z.literal("done"),
        runId: z.string(),
        status: z.enum(["completed", "canceled"]),
        content: z.string(),
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
