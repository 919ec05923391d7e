import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { pageQuerySchema } from "../page.ts";
import { routes } from "../routes.ts";
import {
  newAgencyScheduleSchema,
  newScheduleSchema,
  scheduleChangeSchema,
  scheduleListSchema,
  schedulePreviewSchema,
  scheduleRunListSchema,
  scheduleRunSchema,
  scheduleSchema,
  scheduleTimesSchema,
} from "../schedule.ts";
import { agencyParams } from "./agency-params.ts";
import { agentParams } from "./turns.ts";

const ofAgent = agentParams.extend({ schedule: z.string().min(1).max(200) });
const ofAgency = agencyParams.extend({ schedule: z.string().min(1).max(200) });

/** Endpoints for the schedules of an agent, and for those of an agency. */
export const scheduleEndpoints = {
  listSchedules: defineEndpoint({
    ...routes.listSchedules,
    access: "read",
    summary: "List an agent's schedules, oldest first.",
    params: agentParams,
    query: pageQuerySchema,
    response: scheduleListSchema,
  }),
  createSchedule: defineEndpoint({
    ...routes.createSchedule,
    access: "chat",
    summary: "Create a schedule: the agent gets the input as a message whenever it is due.",
    params: agentParams,
    body: newScheduleSchema,
    status: 201,
    response: scheduleSchema,
  }),
  previewSchedule: defineEndpoint({
    ...routes.previewSchedule,
    access: "chat",
    summary: "Check when a schedule would run, without creating it: its next times, at most five.",
    params: agentParams,
    body: schedulePreviewSchema,
    response: scheduleTimesSchema,
  }),
  getSchedule: defineEndpoint({
    ...routes.getSchedule,
    access: "read",
    summary: "Get a schedule of an agent.",
    params: ofAgent,
    response: scheduleSchema,
  }),
  updateSchedule: defineEndpoint({
    ...routes.updateSchedule,
    access: "chat",
    summary: "Pause or resume a schedule. Times that pass while it is paused are not missed.",
    params: ofAgent,
    body: scheduleChangeSchema,
    response: scheduleSchema,
  }),
  deleteSchedule: defineEndpoint({
    ...routes.deleteSchedule,
    access: "chat",
    summary: "Delete a schedule with its history. Turns that it has started go on.",
    params: ofAgent,
    status: 204,
  }),
  runSchedule: defineEndpoint({
    ...routes.runSchedule,
    access: "chat",
    summary: "Run a schedule now, in addition to its times.",
    params: ofAgent,
    status: 202,
    response: scheduleRunSchema,
  }),
  listScheduleRuns: defineEndpoint({
    ...routes.listScheduleRuns,
    access: "read",
    summary: "List the runs of a schedule and the times it missed, newest first. The latest 100 are kept.",
    params: ofAgent,
    query: pageQuerySchema,
    response: scheduleRunListSchema,
  }),
  listAgencySchedules: defineEndpoint({
    ...routes.listAgencySchedules,
    access: "read",
    summary: "List an agency's own schedules, oldest first. Those of its agents are not among them.",
    params: agencyParams,
    query: pageQuerySchema,
    response: scheduleListSchema,
  }),
  createAgencySchedule: defineEndpoint({
    ...routes.createAgencySchedule,
    access: "chat",
    summary: "Create a schedule of an agency, which names the agent that gets the input.",
    params: agencyParams,
    body: newAgencyScheduleSchema,
    status: 201,
    response: scheduleSchema,
  }),
  getAgencySchedule: defineEndpoint({
    ...routes.getAgencySchedule,
    access: "read",
    summary: "Get a schedule of an agency.",
    params: ofAgency,
    response: scheduleSchema,
  }),
  updateAgencySchedule: defineEndpoint({
    ...routes.updateAgencySchedule,
    access: "chat",
    summary: "Pause or resume a schedule of an agency.",
    params: ofAgency,
    body: scheduleChangeSchema,
    response: scheduleSchema,
  }),
  deleteAgencySchedule: defineEndpoint({
    ...routes.deleteAgencySchedule,
    access: "chat",
    summary: "Delete a schedule of an agency with its history.",
    params: ofAgency,
    status: 204,
  }),
  runAgencySchedule: defineEndpoint({
    ...routes.runAgencySchedule,
    access: "chat",
    summary: "Run a schedule of an agency now, in addition to its times.",
    params: ofAgency,
    status: 202,
    response: scheduleRunSchema,
  }),
  listAgencyScheduleRuns: defineEndpoint({
    ...routes.listAgencyScheduleRuns,
    access: "read",
    summary: "List the runs of a schedule of an agency and the times it missed, newest first.",
    params: ofAgency,
    query: pageQuerySchema,
    response: scheduleRunListSchema,
  }),
} as const;
