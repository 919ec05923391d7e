import { agentListSchema } from "../agent.ts";
import { budgetResponseSchema, newBudgetSchema } from "../budget.ts";
import { defineEndpoint } from "../endpoint.ts";
import { pageQuerySchema } from "../page.ts";
import { routes } from "../routes.ts";
import { agencyUsageSchema, usageQuerySchema, userUsageSchema } from "../usage.ts";
import { preferencesSchema, userSchema } from "../user.ts";
import { agencyParams } from "./agency-params.ts";

/** Endpoints for usage, budgets and the caller's user. */
export const usageEndpoints = {
  getAgencyUsage: defineEndpoint({
    ...routes.getAgencyUsage,
    access: "read",
    summary: "Get the tokens and cost of an agency by model, day and agent.",
    params: agencyParams,
    query: usageQuerySchema,
    response: agencyUsageSchema,
  }),
  getAgencyBudget: defineEndpoint({
    ...routes.getAgencyBudget,
    access: "read",
    summary: "Get the budget of an agency, shared by all of its agents.",
    params: agencyParams,
    response: budgetResponseSchema,
  }),
  putAgencyBudget: defineEndpoint({
    ...routes.putAgencyBudget,
    access: "admin",
    excludesMembers: true,
    summary: "Set the budget of an agency. Earlier spending counts.",
    params: agencyParams,
    body: newBudgetSchema,
    response: budgetResponseSchema,
  }),
  deleteAgencyBudget: defineEndpoint({
    ...routes.deleteAgencyBudget,
    access: "admin",
    excludesMembers: true,
    summary: "Delete the budget of an agency, which removes its limits.",
    params: agencyParams,
    status: 204,
  }),
  getUser: defineEndpoint({
    ...routes.getUser,
    access: "read",
    summary: "Get the caller's user: number of agencies and agents, preferences and budget.",
    response: userSchema,
  }),
  listUserAgents: defineEndpoint({
    ...routes.listUserAgents,
    access: "read",
    summary: "List the agents of all the caller's agencies.",
    query: pageQuerySchema,
    response: agentListSchema,
  }),
  getPreferences: defineEndpoint({
    ...routes.getPreferences,
    access: "read",
    summary: "Get the caller's preferences.",
    response: preferencesSchema,
  }),
  putPreferences: defineEndpoint({
    ...routes.putPreferences,
    access: "chat",
    summary: "Replace the caller's preferences.",
    body: preferencesSchema,
    response: preferencesSchema,
  }),
  getUserUsage: defineEndpoint({
    ...routes.getUserUsage,
    access: "read",
    summary: "Get the tokens and cost of all the caller's agencies by model, day and agency.",
    query: usageQuerySchema,
    response: userUsageSchema,
  }),
  getUserBudget: defineEndpoint({
    ...routes.getUserBudget,
    access: "read",
    summary: "Get the caller's budget, shared by all of their agencies.",
    response: budgetResponseSchema,
  }),
  putUserBudget: defineEndpoint({
    ...routes.putUserBudget,
    access: "admin",
    summary: "Set the caller's budget. Earlier spending counts.",
    body: newBudgetSchema,
    response: budgetResponseSchema,
  }),
  deleteUserBudget: defineEndpoint({
    ...routes.deleteUserBudget,
    access: "admin",
    summary: "Delete the caller's budget, which removes its limits.",
    status: 204,
  }),
} as const;
