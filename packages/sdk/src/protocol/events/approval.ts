import { z } from "zod";

const proposedCallsSchema = () => z.array(z.object({ toolName: z.string(), args: z.unknown() }));

/** Events about tool calls that need approval. */
export const approvalEvents = () => ({
  "hitl.interrupt": z.object({ proposedToolCalls: proposedCallsSchema() }),
  "hitl.resume": z.object({ approved: z.boolean(), modifiedToolCalls: proposedCallsSchema().optional() }),
});
