import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { processListSchema, processOutputSchema, processQuerySchema, processSchema } from "../process.ts";
import { routes } from "../routes.ts";
import { agentParams } from "./turns.ts";

const processParams = agentParams.extend({ id: z.string().min(1).max(100) });

/** What an agent has left running in its Linux sandbox. */
export const processEndpoints = {
  listProcesses: defineEndpoint({
    ...routes.listProcesses,
    access: "read",
    summary: "The programs that an agent has running in its Linux sandbox, and the latest that ended.",
    params: agentParams,
    response: processListSchema,
  }),
  getProcess: defineEndpoint({
    ...routes.getProcess,
    access: "read",
    summary: "One of them, with what it wrote; of very much, the end.",
    params: processParams,
    query: processQuerySchema,
    response: processOutputSchema,
  }),
  stopProcess: defineEndpoint({
    ...routes.stopProcess,
    access: "chat",
    summary: "End one of them, with all that it started.",
    params: processParams,
    response: processSchema,
  }),
} as const;
