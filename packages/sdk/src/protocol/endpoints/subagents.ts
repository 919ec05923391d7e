import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { routes } from "../routes.ts";
import { spawnResponseSchema, spawnSchema, subagentListSchema, subagentSchema } from "../subagent.ts";
import { agentParams } from "./turns.ts";

const subagentParams = agentParams.extend({ task: z.string().min(1).max(64) });

/** Endpoints for the sub-agents of an agent. The agent's other endpoints also exist below `/sub/:child`. */
export const subagentEndpoints = {
  spawnSubagent: defineEndpoint({
    ...routes.spawnSubagent,
    access: "chat",
    summary: "Delegate a task to a sub-agent, which works in the background. Idempotent.",
    params: agentParams,
    body: spawnSchema,
    response: spawnResponseSchema,
  }),
  listSubagents: defineEndpoint({
    ...routes.listSubagents,
    access: "read",
    summary: "List an agent's sub-agents, newest first.",
    params: agentParams,
    response: subagentListSchema,
  }),
  getSubagent: defineEndpoint({
    ...routes.getSubagent,
    access: "read",
    summary: "Get a sub-agent by its task, with what it is doing.",
    params: subagentParams,
    response: subagentSchema,
  }),
  deleteSubagent: defineEndpoint({
    ...routes.deleteSubagent,
    access: "chat",
    summary: "Cancel a sub-agent and delete it with everyone below it. Its report stays.",
    params: subagentParams,
    status: 204,
  }),
} as const;
