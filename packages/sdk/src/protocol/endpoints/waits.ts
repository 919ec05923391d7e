import { z } from "zod";
import {
  approvalAnswerSchema,
  approvalListSchema,
  approvalQuerySchema,
  approvalSchema,
  grantListSchema,
} from "../approval.ts";
import { answerSchema, questionListSchema } from "../continuation.ts";
import { defineEndpoint } from "../endpoint.ts";
import { pageQuerySchema } from "../page.ts";
import { policySchema } from "../policy.ts";
import { routes } from "../routes.ts";
import { runSchema } from "../turn.ts";
import { agencyParams } from "./agency-params.ts";
import { agentParams } from "./turns.ts";

const approvalParams = z.object({ id: z.string().min(1).max(200) });

// An edited input, or a result in the tool's place, may be a whole file.
const maxAnswerBytes = 4 * 1024 * 1024;

/** Endpoints for what agents wait for: approvals, questions, and the rules that say what is asked about. */
export const waitEndpoints = {
  listApprovals: defineEndpoint({
    ...routes.listApprovals,
    access: "read",
    summary:
      "List the approvals of all your agents, and of agencies where you may approve: the pending ones, oldest first, or those with another status, newest first.",
    query: approvalQuerySchema,
    response: approvalListSchema,
  }),
  answerApproval: defineEndpoint({
    ...routes.answerApproval,
    access: "approve",
    summary: "Approve or deny tool calls, change their inputs, or answer in a tool's place.",
    params: approvalParams,
    body: approvalAnswerSchema,
    maxBodyBytes: maxAnswerBytes,
    response: approvalSchema,
  }),
  listQuestions: defineEndpoint({
    ...routes.listQuestions,
    access: "read",
    summary: "List the open questions of all your agents, and of agencies where you may chat, oldest first.",
    query: pageQuerySchema,
    response: questionListSchema,
  }),
  listAgencyApprovals: defineEndpoint({
    ...routes.listAgencyApprovals,
    access: "read",
    summary: "List the approvals of an agency's agents, like those of all agents.",
    params: agencyParams,
    query: approvalQuerySchema,
    response: approvalListSchema,
  }),
  listAgentApprovals: defineEndpoint({
    ...routes.listAgentApprovals,
    access: "read",
    summary: "List an agent's approvals, newest first: all of them, or those with a status.",
    params: agentParams,
    query: approvalQuerySchema,
    response: approvalListSchema,
  }),
  approve: defineEndpoint({
    ...routes.approve,
    access: "approve",
    summary: "Answer an approval of this agent; its only pending one by default.",
    params: agentParams,
    body: approvalAnswerSchema,
    maxBodyBytes: maxAnswerBytes,
    response: approvalSchema,
  }),
  answerQuestion: defineEndpoint({
    ...routes.answerQuestion,
    access: "chat",
    summary: "Answer a question of the agent; its only open one by default.",
    params: agentParams,
    body: answerSchema,
    response: runSchema,
  }),
  getPolicy: defineEndpoint({
    ...routes.getPolicy,
    access: "read",
    summary: "Get the rules that apply to all agents of an agency.",
    params: agencyParams,
    response: policySchema,
  }),
  putPolicy: defineEndpoint({
    ...routes.putPolicy,
    access: "admin",
    summary: "Replace the rules that apply to all agents of an agency.",
    params: agencyParams,
    body: policySchema,
    response: policySchema,
  }),
  listGrants: defineEndpoint({
    ...routes.listGrants,
    access: "read",
    summary: "List what was approved for good in an agency.",
    params: agencyParams,
    response: grantListSchema,
  }),
  deleteGrant: defineEndpoint({
    ...routes.deleteGrant,
    access: "approve",
    summary: "Remove a grant: calls it matched are asked about again.",
    params: agencyParams.extend({ id: z.string().min(1).max(500) }),
    status: 204,
  }),
} as const;
