import { z } from "zod";
import { agentListSchema } from "../agent.ts";
import { budgetAnswerSchema, newBudgetSchema } from "../budget.ts";
import { endpoint } from "../endpoint.ts";
import { agencyIdSchema } from "../name-schemas.ts";
import { pageQuerySchema } from "../page.ts";
import { routes } from "../routes.ts";
import { agencyUsageSchema, usageQuerySchema, userUsageSchema } from "../usage.ts";
import { preferencesSchema, userSchema } from "../user.ts";

const agencyParams = z.object({ agency: agencyIdSchema });

/** What was spent and may be, and the user whose it is. */
export const usageEndpoints = {
  getAgencyUsage: endpoint({
    ...routes.getAgencyUsage,
    access: "read",
    summary: "Tokens and cost of an agency, by model, day and agent.",
    params: agencyParams,
    query: usageQuerySchema,
    answer: agencyUsageSchema,
  }),
  getAgencyBudget: endpoint({
    ...routes.getAgencyBudget,
    access: "read",
    summary: "What all agents of an agency together may spend.",
    params: agencyParams,
    answer: budgetAnswerSchema,
  }),
  putAgencyBudget: endpoint({
    ...routes.putAgencyBudget,
    access: "admin",
    summary: "Set an agency's budget. What was spent before counts.",
    params: agencyParams,
    body: newBudgetSchema,
    answer: budgetAnswerSchema,
  }),
  deleteAgencyBudget: endpoint({
    ...routes.deleteAgencyBudget,
    access: "admin",
    summary: "Take an agency's budget away: nothing is limited.",
    params: agencyParams,
    status: 204,
  }),
  getUser: endpoint({
    ...routes.getUser,
    access: "read",
    summary: "The caller: how many agencies and agents, preferences, budget.",
    answer: userSchema,
  }),
  listUserAgents: endpoint({
    ...routes.listUserAgents,
    access: "read",
    summary: "The agents of all the caller's agencies.",
    query: pageQuerySchema,
    answer: agentListSchema,
  }),
  getPreferences: endpoint({
    ...routes.getPreferences,
    access: "read",
    summary: "The caller's preferences.",
    answer: preferencesSchema,
  }),
  putPreferences: endpoint({
    ...routes.putPreferences,
    access: "chat",
    summary: "Replace the caller's preferences.",
    body: preferencesSchema,
    answer: preferencesSchema,
  }),
  getUserUsage: endpoint({
    ...routes.getUserUsage,
    access: "read",
    summary: "Tokens and cost of all the caller's agencies, by model, day and agency.",
    query: usageQuerySchema,
    answer: userUsageSchema,
  }),
  getUserBudget: endpoint({
    ...routes.getUserBudget,
    access: "read",
    summary: "What all the caller's agencies together may spend.",
    answer: budgetAnswerSchema,
  }),
  putUserBudget: endpoint({
    ...routes.putUserBudget,
    access: "admin",
    summary: "Set the caller's budget. What was spent before counts.",
    body: newBudgetSchema,
    answer: budgetAnswerSchema,
  }),
  deleteUserBudget: endpoint({
    ...routes.deleteUserBudget,
    access: "admin",
    summary: "Take the caller's budget away: nothing is limited.",
    status: 204,
  }),
} as const;
