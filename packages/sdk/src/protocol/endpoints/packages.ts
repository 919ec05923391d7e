import { defineEndpoint } from "../endpoint.ts";
import { agentNameSchema } from "../name-schemas.ts";
import {
  agentCodeSchema,
  agentLogQuerySchema,
  agentLogSchema,
  deploySchema,
  newDeploySchema,
  packageListSchema,
  packageSchema,
  rollbackSchema,
  settingsChangeSchema,
  settingsSchema,
} from "../package.ts";
import { pageQuerySchema } from "../page.ts";
import { routes } from "../routes.ts";
import { agencyParams } from "./agency-params.ts";
import { agentParams } from "./turns.ts";

const packageParams = agencyParams.extend({ package: agentNameSchema });

/** Endpoints for agents that users write. */
export const packageEndpoints = {
  listPackages: defineEndpoint({
    ...routes.listPackages,
    access: "read",
    summary: "List the agent packages of an agency.",
    params: agencyParams,
    query: pageQuerySchema,
    response: packageListSchema,
  }),
  deployPackage: defineEndpoint({
    ...routes.deployPackage,
    access: "admin",
    excludesMembers: true,
    summary: "Deploy an agent's code as a new version, and grant it the capabilities that its manifest names.",
    params: agencyParams,
    body: newDeploySchema,
    // JSON may escape one character of the code as six.
    maxBodyBytes: 32 * 1024 * 1024,
    status: 201,
    response: deploySchema,
  }),
  getPackage: defineEndpoint({
    ...routes.getPackage,
    access: "read",
    summary: "Get a package with its versions.",
    params: packageParams,
    response: packageSchema,
  }),
  deletePackage: defineEndpoint({
    ...routes.deletePackage,
    access: "admin",
    excludesMembers: true,
    summary: "Delete a package that no agent uses, with its versions and its blueprint.",
    params: packageParams,
    status: 204,
  }),
  rollbackPackage: defineEndpoint({
    ...routes.rollbackPackage,
    access: "admin",
    excludesMembers: true,
    summary: "Make an earlier version the current one.",
    params: packageParams,
    body: rollbackSchema.default({}),
    response: packageSchema,
  }),
  getSettings: defineEndpoint({
    ...routes.getSettings,
    access: "read",
    summary: "Get the settings of an agent, and the schema that its code declares.",
    params: agentParams,
    response: settingsSchema,
  }),
  putSettings: defineEndpoint({
    ...routes.putSettings,
    access: "chat",
    summary: "Change settings of an agent. They apply from its next message on.",
    params: agentParams,
    body: settingsChangeSchema,
    response: settingsSchema,
  }),
  getAgentCode: defineEndpoint({
    ...routes.getAgentCode,
    access: "read",
    summary: "Get the version of the code that an agent runs, what it may do, and what it has used.",
    params: agentParams,
    response: agentCodeSchema,
  }),
  listAgentLogs: defineEndpoint({
    ...routes.listAgentLogs,
    access: "read",
    summary: "List what an agent's code logged, and its errors.",
    params: agentParams,
    query: agentLogQuerySchema,
    response: agentLogSchema,
  }),
} as const;
