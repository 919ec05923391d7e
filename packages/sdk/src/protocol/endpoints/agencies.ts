import { z } from "zod";
import { agencyChangeSchema, agencyDetailsSchema } from "../agency.ts";
import { defineEndpoint } from "../endpoint.ts";
import { userNameSchema } from "../name-schemas.ts";
import { pageQuerySchema } from "../page.ts";
import { routes } from "../routes.ts";
import {
  createTeamFrameSchema,
  feedbackListSchema,
  feedbackSchema,
  memberListSchema,
  newFeedbackSchema,
  newMemberSchema,
  userMemberSchema,
} from "../team.ts";
import { agencyParams } from "./agency-params.ts";

const memberParams = agencyParams.extend({ user: userNameSchema });

/** Endpoints for an agency itself: its settings, members and feedback, and what happens in it. */
export const agencyEndpoints = {
  getAgency: defineEndpoint({
    ...routes.getAgency,
    access: "read",
    summary: "Get an agency with its settings and variables.",
    params: agencyParams,
    response: agencyDetailsSchema,
  }),
  updateAgency: defineEndpoint({
    ...routes.updateAgency,
    access: "chat",
    summary: "Change the name, the settings or the variables of an agency.",
    params: agencyParams,
    body: agencyChangeSchema,
    response: agencyDetailsSchema,
  }),
  openAgencySocket: defineEndpoint({
    ...routes.openAgencySocket,
    access: "read",
    summary: "Open the WebSocket of an agency: messages, inboxes, tasks, and what its agents do.",
    params: agencyParams,
    status: 101,
    frames: { client: () => z.strictObject({ type: z.literal("ack") }), server: createTeamFrameSchema },
  }),
  listMembers: defineEndpoint({
    ...routes.listMembers,
    access: "read",
    summary: "List the people who may use an agency, then its agents with what they do.",
    params: agencyParams,
    query: pageQuerySchema,
    response: memberListSchema,
  }),
  putMember: defineEndpoint({
    ...routes.putMember,
    access: "admin",
    excludesMembers: true,
    summary: "Let another user of the host use this agency, or change what they may do.",
    params: memberParams,
    body: newMemberSchema,
    response: userMemberSchema,
  }),
  deleteMember: defineEndpoint({
    ...routes.deleteMember,
    access: "admin",
    excludesMembers: true,
    summary: "Take the agency away from a user again. Their open sockets are closed.",
    params: memberParams,
    status: 204,
  }),
  listFeedback: defineEndpoint({
    ...routes.listFeedback,
    access: "read",
    summary: "List the feedback of agents and people, newest first.",
    params: agencyParams,
    query: pageQuerySchema,
    response: feedbackListSchema,
  }),
  createFeedback: defineEndpoint({
    ...routes.createFeedback,
    access: "chat",
    summary: "Leave feedback.",
    params: agencyParams,
    body: newFeedbackSchema,
    status: 201,
    response: feedbackSchema,
  }),
} as const;
