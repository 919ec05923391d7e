import { z } from "zod";

const proposedCallsSchema = () => z.array(z.object({ toolName: z.string(), args: z.unknown() }));

/** Tool calls that wait for a person. */
export const approvalEvents = () => ({
  "hitl.interrupt": z.object({ proposedToolCalls: proposedCallsSchema() }),
  "hitl.resume": z.object({ approved: z.boolean(), modifiedToolCalls: proposedCallsSchema().optional() }),
});
