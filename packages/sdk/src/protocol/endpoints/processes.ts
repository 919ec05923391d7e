import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { processListSchema, processOutputSchema, processQuerySchema, processSchema } from "../process.ts";
import { routes } from "../routes.ts";
import { agentParams } from "./turns.ts";

const processParams = agentParams.extend({ id: z.string().min(1).max(100) });

/** Endpoints for the background processes in an agent's Linux sandbox. */
export const processEndpoints = {
  listProcesses: defineEndpoint({
    ...routes.listProcesses,
    access: "read",
    summary: "List the processes in an agent's Linux sandbox: running ones, and those that ended recently.",
    params: agentParams,
    response: processListSchema,
  }),
  getProcess: defineEndpoint({
    ...routes.getProcess,
    access: "read",
    summary: "Get a process with its output. If the output is very long, only its end.",
    params: processParams,
    query: processQuerySchema,
    response: processOutputSchema,
  }),
  stopProcess: defineEndpoint({
    ...routes.stopProcess,
    access: "chat",
    summary: "Stop a process and everything it started.",
    params: processParams,
    response: processSchema,
  }),
} as const;
