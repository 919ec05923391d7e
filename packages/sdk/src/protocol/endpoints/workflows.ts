import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { createJobEventSchema } from "../job-event.ts";
import { workflowNameSchema } from "../name-schemas.ts";
import { pageQuerySchema } from "../page.ts";
import { routes } from "../routes.ts";
import {
  newWorkflowRunSchema,
  workflowRunListSchema,
  workflowRunQuerySchema,
  workflowRunSchema,
} from "../workflow-run.ts";
import { storedWorkflowListSchema, storedWorkflowSchema, workflowSchema } from "../workflow.ts";
import { agencyParams } from "./agency-params.ts";

const workflowParams = z.object({ workflow: workflowNameSchema });
const eventStream = "text/event-stream";

/** Endpoints for workflows that the host knows by name, and for their runs. */
export const workflowEndpoints = {
  listWorkflows: defineEndpoint({
    ...routes.listWorkflows,
    access: "read",
    summary: "List the caller's stored workflows.",
    query: pageQuerySchema,
    response: storedWorkflowListSchema,
  }),
  getWorkflow: defineEndpoint({
    ...routes.getWorkflow,
    access: "read",
    summary: "Get a stored workflow.",
    params: workflowParams,
    response: workflowSchema,
  }),
  putWorkflow: defineEndpoint({
    ...routes.putWorkflow,
    access: "admin",
    summary: "Store a workflow, so that it can be run by its name.",
    params: workflowParams,
    body: workflowSchema,
    maxBodyBytes: 8 * 1024 * 1024,
    response: storedWorkflowSchema,
  }),
  deleteWorkflow: defineEndpoint({
    ...routes.deleteWorkflow,
    access: "admin",
    summary: "Delete a stored workflow. Its runs stay.",
    params: workflowParams,
    status: 204,
  }),
  listWorkflowRuns: defineEndpoint({
    ...routes.listWorkflowRuns,
    access: "read",
    summary: "List the runs of workflows in the caller's agencies, newest first.",
    query: workflowRunQuerySchema,
    response: workflowRunListSchema,
  }),
  createWorkflowRun: defineEndpoint({
    ...routes.createWorkflowRun,
    access: "chat",
    summary: "Start a workflow. Returns at once; the run goes on by itself.",
    body: newWorkflowRunSchema,
    maxBodyBytes: 8 * 1024 * 1024,
    status: 202,
    response: workflowRunSchema,
  }),
  getWorkflowRun: defineEndpoint({
    ...routes.getWorkflowRun,
    access: "read",
    summary: "Get the run of a workflow that an agency is.",
    params: agencyParams,
    response: workflowRunSchema,
  }),
  followWorkflowRun: defineEndpoint({
    ...routes.followWorkflowRun,
    access: "read",
    summary: "Follow a run: what its agents do from now on, until it ends.",
    params: agencyParams,
    mediaTypes: [eventStream],
    eventStream: createJobEventSchema,
  }),
  stopWorkflowRun: defineEndpoint({
    ...routes.stopWorkflowRun,
    access: "chat",
    summary: "Stop a run: turns are canceled, messages wait.",
    params: agencyParams,
    response: workflowRunSchema,
  }),
  startWorkflowRun: defineEndpoint({
    ...routes.startWorkflowRun,
    access: "chat",
    summary: "Resume a run that was stopped.",
    params: agencyParams,
    response: workflowRunSchema,
  }),
} as const;
