import { z } from "zod";
import { agencyListSchema, agencySchema, newAgencySchema } from "./agency.ts";
import { agentListSchema, agentSchema, newAgentSchema } from "./agent.ts";
import { blueprintListSchema, blueprintSchema, listedBlueprintSchema } from "./blueprint.ts";
import { collectionSchema, newCollectionSchema } from "./collection.ts";
import { defineEndpoint } from "./endpoint.ts";
import { agencyEndpoints } from "./endpoints/agencies.ts";
import { agencyParams } from "./endpoints/agency-params.ts";
import { appEndpoints } from "./endpoints/app.ts";
import { channelEndpoints } from "./endpoints/channels.ts";
import { documentEndpoints } from "./endpoints/documents.ts";
import { fileEndpoints } from "./endpoints/files.ts";
import { packageEndpoints } from "./endpoints/packages.ts";
import { processEndpoints } from "./endpoints/processes.ts";
import { scheduleEndpoints } from "./endpoints/schedules.ts";
import { subagentEndpoints } from "./endpoints/subagents.ts";
import { taskEndpoints } from "./endpoints/tasks.ts";
import { teamEndpoints } from "./endpoints/team.ts";
import { agentParams, turnEndpoints } from "./endpoints/turns.ts";
import { usageEndpoints } from "./endpoints/usage.ts";
import { userEndpoints } from "./endpoints/users.ts";
import { versionEndpoints } from "./endpoints/versions.ts";
import { waitEndpoints } from "./endpoints/waits.ts";
import { webhookEndpoints } from "./endpoints/webhooks.ts";
import { workflowEndpoints } from "./endpoints/workflows.ts";
import { healthSchema } from "./health.ts";
import { modelListSchema, modelQuerySchema, providerListSchema } from "./models.ts";
import { blueprintNameSchema, userNameSchema } from "./name-schemas.ts";
import { pageQuerySchema } from "./page.ts";
import { routes } from "./routes.ts";
import {
  issuedTokenSchema,
  loginCodeSchema,
  loginResponseSchema,
  loginSchema,
  newLoginCodeSchema,
  newTicketSchema,
  newTokenSchema,
  ticketSchema,
  tokenListSchema,
  whoSchema,
} from "./token.ts";

const blueprintParams = agencyParams.extend({ name: blueprintNameSchema });
const idParams = z.object({ id: z.string() });

/** All endpoints of the HTTP API. `/agents…` is short for `/agency/<default agency>/agents…`. */
export const endpoints = {
  health: defineEndpoint({
    ...routes.health,
    access: "public",
    summary: "Check the health of the host. With a token, the response has details.",
    response: healthSchema,
  }),
  shutdown: defineEndpoint({
    ...routes.shutdown,
    access: "owner",
    summary: "Drain and stop the host.",
    status: 202,
    response: z.object({ status: z.literal("stopping") }),
  }),
  collectBlobs: defineEndpoint({
    ...routes.collectBlobs,
    access: "owner",
    summary: "Delete the blobs that no agent needs, or wait for such a collection. Responds within seconds.",
    body: newCollectionSchema.default({}),
    response: collectionSchema,
  }),
  openapi: defineEndpoint({
    ...routes.openapi,
    access: "any",
    summary: "Get this OpenAPI document.",
    response: z.record(z.string(), z.unknown()),
  }),
  listProviders: defineEndpoint({
    ...routes.listProviders,
    access: "read",
    summary: "List model providers with their status.",
    response: providerListSchema,
  }),
  listModels: defineEndpoint({
    ...routes.listModels,
    access: "read",
    summary: "List the available models with their prices.",
    query: modelQuerySchema,
    response: modelListSchema,
  }),

  login: defineEndpoint({
    ...routes.login,
    access: "public",
    summary: "Exchange a one-time code for the dashboard's session cookie.",
    body: loginSchema,
    response: loginResponseSchema,
  }),
  createTicket: defineEndpoint({
    ...routes.createTicket,
    access: "read",
    summary: "Create a ticket that opens one path once, for links that cannot send credentials.",
    body: newTicketSchema,
    status: 201,
    response: ticketSchema,
  }),
  logout: defineEndpoint({
    ...routes.logout,
    access: "any",
    summary: "End the dashboard session.",
    status: 204,
  }),
  createLoginCode: defineEndpoint({
    ...routes.createLoginCode,
    access: "admin",
    summary:
      "Create a one-time login code for the caller, or as the owner for another user; with all or some of the scopes.",
    body: newLoginCodeSchema.default({}),
    status: 201,
    response: loginCodeSchema,
  }),
  who: defineEndpoint({
    ...routes.who,
    access: "any",
    summary: "Get the user and the scopes of this credential.",
    response: whoSchema,
  }),
  listTokens: defineEndpoint({
    ...routes.listTokens,
    access: "admin",
    summary: "List the caller's tokens, or as the owner those of another user.",
    query: z.strictObject({ user: userNameSchema.optional() }),
    response: tokenListSchema,
  }),
  createToken: defineEndpoint({
    ...routes.createToken,
    access: "admin",
    summary: "Create a token for the caller, or as the owner for another user. Its secret is shown only once.",
    body: newTokenSchema,
    status: 201,
    response: issuedTokenSchema,
  }),
  revokeToken: defineEndpoint({
    ...routes.revokeToken,
    access: "admin",
    summary: "Revoke a token. Takes effect immediately, also for open sockets.",
    params: z.object({ id: z.string().min(1).max(200) }),
    status: 204,
  }),

  listAgencies: defineEndpoint({
    ...routes.listAgencies,
    access: "read",
    summary: "List the caller's agencies, then those of other users that the caller is a member of.",
    query: pageQuerySchema,
    response: agencyListSchema,
  }),
  createAgency: defineEndpoint({
    ...routes.createAgency,
    access: "chat",
    summary: "Create an agency.",
    body: newAgencySchema,
    status: 201,
    response: agencySchema,
  }),
  deleteAgency: defineEndpoint({
    ...routes.deleteAgency,
    access: "admin",
    excludesMembers: true,
    summary: "Delete an agency and everything in it.",
    params: agencyParams,
    status: 204,
  }),

  listBlueprints: defineEndpoint({
    ...routes.listBlueprints,
    access: "read",
    summary: "List static and dynamic blueprints. Dynamic ones take precedence.",
    params: agencyParams,
    response: blueprintListSchema,
  }),
  putBlueprint: defineEndpoint({
    ...routes.putBlueprint,
    access: "admin",
    summary: "Create or replace a dynamic blueprint.",
    params: agencyParams,
    body: blueprintSchema,
    status: 201,
    response: listedBlueprintSchema.and(idParams),
  }),
  getBlueprint: defineEndpoint({
    ...routes.getBlueprint,
    access: "read",
    summary: "Get a blueprint.",
    params: blueprintParams,
    response: listedBlueprintSchema,
  }),
  deleteBlueprint: defineEndpoint({
    ...routes.deleteBlueprint,
    access: "admin",
    summary: "Delete a dynamic blueprint. A static one with the same name takes its place again.",
    params: blueprintParams,
    status: 204,
  }),

  listAgents: defineEndpoint({
    ...routes.listAgents,
    access: "read",
    summary: "List the agents of an agency.",
    params: agencyParams,
    query: pageQuerySchema,
    response: agentListSchema,
  }),
  createAgent: defineEndpoint({
    ...routes.createAgent,
    access: "chat",
    summary: "Create an agent from a blueprint.",
    params: agencyParams,
    body: newAgentSchema,
    status: 201,
    response: agentSchema,
  }),
  getAgent: defineEndpoint({
    ...routes.getAgent,
    access: "read",
    summary: "Get an agent.",
    params: agentParams,
    response: agentSchema,
  }),
  deleteAgent: defineEndpoint({
    ...routes.deleteAgent,
    access: "admin",
    summary: "Delete an agent and all of its data.",
    params: agentParams,
    status: 204,
  }),

  ...agencyEndpoints,
  ...channelEndpoints,
  ...teamEndpoints,
  ...documentEndpoints,
  ...workflowEndpoints,
  ...turnEndpoints,
  ...waitEndpoints,
  ...webhookEndpoints,
  ...taskEndpoints,
  ...scheduleEndpoints,
  ...appEndpoints,
  ...packageEndpoints,
  ...subagentEndpoints,
  ...processEndpoints,
  ...fileEndpoints,
  ...versionEndpoints,
  ...usageEndpoints,
  ...userEndpoints,
} as const;

export type Endpoints = typeof endpoints;
