import { z } from "zod";
import { agentListSchema } from "../agent.ts";
import { budgetResponseSchema, newBudgetSchema } from "../budget.ts";
import { defineEndpoint } from "../endpoint.ts";
import { agencyIdSchema } from "../name-schemas.ts";
import { pageQuerySchema } from "../page.ts";
import { routes } from "../routes.ts";
import { agencyUsageSchema, usageQuerySchema, userUsageSchema } from "../usage.ts";
import { preferencesSchema, userSchema } from "../user.ts";

const agencyParams = z.object({ agency: agencyIdSchema });

/** What was spent and may be, and the user whose it is. */
export const usageEndpoints = {
  getAgencyUsage: defineEndpoint({
    ...routes.getAgencyUsage,
    access: "read",
    summary: "Tokens and cost of an agency, by model, day and agent.",
    params: agencyParams,
    query: usageQuerySchema,
    response: agencyUsageSchema,
  }),
  getAgencyBudget: defineEndpoint({
    ...routes.getAgencyBudget,
    access: "read",
    summary: "What all agents of an agency together may spend.",
    params: agencyParams,
    response: budgetResponseSchema,
  }),
  putAgencyBudget: defineEndpoint({
    ...routes.putAgencyBudget,
    access: "admin",
    summary: "Set an agency's budget. What was spent before counts.",
    params: agencyParams,
    body: newBudgetSchema,
    response: budgetResponseSchema,
  }),
  deleteAgencyBudget: defineEndpoint({
    ...routes.deleteAgencyBudget,
    access: "admin",
    summary: "Take an agency's budget away: nothing is limited.",
    params: agencyParams,
    status: 204,
  }),
  getUser: defineEndpoint({
    ...routes.getUser,
    access: "read",
    summary: "The caller: how many agencies and agents, preferences, budget.",
    response: userSchema,
  }),
  listUserAgents: defineEndpoint({
    ...routes.listUserAgents,
    access: "read",
    summary: "The agents of all the caller's agencies.",
    query: pageQuerySchema,
    response: agentListSchema,
  }),
  getPreferences: defineEndpoint({
    ...routes.getPreferences,
    access: "read",
    summary: "The caller's preferences.",
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
    summary: "Tokens and cost of all the caller's agencies, by model, day and agency.",
    query: usageQuerySchema,
    response: userUsageSchema,
  }),
  getUserBudget: defineEndpoint({
    ...routes.getUserBudget,
    access: "read",
    summary: "What all the caller's agencies together may spend.",
    response: budgetResponseSchema,
  }),
  putUserBudget: defineEndpoint({
    ...routes.putUserBudget,
    access: "admin",
    summary: "Set the caller's budget. What was spent before counts.",
    body: newBudgetSchema,
    response: budgetResponseSchema,
  }),
  deleteUserBudget: defineEndpoint({
    ...routes.deleteUserBudget,
    access: "admin",
    summary: "Take the caller's budget away: nothing is limited.",
    status: 204,
  }),
} as const;
