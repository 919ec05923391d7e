import { z } from "zod";
import {
  agencyToolListSchema,
  agencyToolQuerySchema,
  agencyToolSchema,
  agentToolSchema,
  newAgencyToolSchema,
} from "../agency-tool.ts";
import { defineEndpoint } from "../endpoint.ts";
import { pageQuerySchema } from "../page.ts";
import { toolNameSchema } from "../props.ts";
import { newResourceSchema, resourceListSchema, resourceSchema } from "../resource.ts";
import { routes } from "../routes.ts";
import {
  createdTeamTaskSchema,
  newTeamTaskSchema,
  teamTaskChangeSchema,
  teamTaskClaimSchema,
  teamTaskListSchema,
  teamTaskQuerySchema,
  teamTaskSchema,
} from "../team-task.ts";
import { agencyParams } from "./agency-params.ts";
import { agentParams } from "./turns.ts";

const taskParams = agencyParams.extend({ task: z.string().min(1).max(200) });
const toolParams = agencyParams.extend({ tool: toolNameSchema });

/** Endpoints for what the members of an agency share: tasks, resources and tools. */
export const teamEndpoints = {
  listTeamTasks: defineEndpoint({
    ...routes.listTeamTasks,
    access: "read",
    summary: "List the tasks that the members of an agency share.",
    params: agencyParams,
    query: teamTaskQuerySchema,
    response: teamTaskListSchema,
  }),
  createTeamTask: defineEndpoint({
    ...routes.createTeamTask,
    access: "chat",
    summary: "Create a shared task.",
    params: agencyParams,
    body: newTeamTaskSchema,
    status: 201,
    response: createdTeamTaskSchema,
  }),
  updateTeamTask: defineEndpoint({
    ...routes.updateTeamTask,
    access: "chat",
    summary: "Complete, fail, cancel, block or release a shared task, or change what it depends on.",
    params: taskParams,
    body: teamTaskChangeSchema,
    response: teamTaskSchema,
  }),
  claimTeamTask: defineEndpoint({
    ...routes.claimTeamTask,
    access: "chat",
    summary: "Claim a shared task for the caller, or for an agent. Fails if somebody else has claimed it.",
    params: taskParams,
    body: teamTaskClaimSchema.default({}),
    response: teamTaskSchema,
  }),
  listResources: defineEndpoint({
    ...routes.listResources,
    access: "read",
    summary: "List the resources of an agency.",
    params: agencyParams,
    query: pageQuerySchema,
    response: resourceListSchema,
  }),
  createResource: defineEndpoint({
    ...routes.createResource,
    access: "chat",
    summary: "Store a content under its hash. The same content again is the same resource.",
    params: agencyParams,
    body: newResourceSchema,
    maxBodyBytes: 12 * 1024 * 1024,
    status: 201,
    response: resourceSchema,
  }),
  readResource: defineEndpoint({
    ...routes.readResource,
    access: "read",
    summary: "Get the content of a resource.",
    params: agencyParams.extend({ hash: z.string().regex(/^[0-9a-f]{64}$/, "expected 64 hexadecimal digits") }),
    mediaTypes: ["*/*"],
  }),
  listAgencyTools: defineEndpoint({
    ...routes.listAgencyTools,
    access: "read",
    summary: "List the tools that were given to the agents of an agency.",
    params: agencyParams,
    response: agencyToolListSchema,
  }),
  putAgencyTool: defineEndpoint({
    ...routes.putAgencyTool,
    access: "admin",
    summary: "Give a tool to all agents of an agency, or to one, or put a mock in the place of a tool.",
    params: toolParams,
    body: newAgencyToolSchema,
    response: agencyToolSchema,
  }),
  deleteAgencyTool: defineEndpoint({
    ...routes.deleteAgencyTool,
    access: "admin",
    summary: "Take such a tool away again.",
    params: toolParams,
    query: agencyToolQuerySchema,
    status: 204,
  }),
  listAgentTools: defineEndpoint({
    ...routes.listAgentTools,
    access: "read",
    summary: "List every tool of an agent, where it comes from, and whether its model is offered it now.",
    params: agentParams,
    response: z.object({ tools: z.array(agentToolSchema) }),
  }),
} as const;
