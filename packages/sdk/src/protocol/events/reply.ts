import { z } from "zod";
import { toolCallSchema } from "../message.ts";

/** Events about messages that the code of an agent writes, which no model call of the turn produced. */
export const replyEvents = () => ({
  "reply.started": z
    .object({ runId: z.string(), step: z.number(), messageId: z.string() })
    .describe("The agent's code began a message. Its text follows as `model.delta`."),
  "reply.completed": z
    .object({ runId: z.string(), step: z.number(), messageId: z.string(), toolCalls: z.array(toolCallSchema) })
    .describe("The message is complete, or goes on in another one after these tool calls."),
  "reply.discarded": z
    .object({ runId: z.string(), reason: z.string() })
    .describe("The message that was being written is void, because the code that wrote it is run again."),
});
