import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { branchNameSchema, fileWriteQuerySchema } from "../file.ts";
import { routes } from "../routes.ts";
import {
  branchListSchema,
  branchSchema,
  mergeResponseSchema,
  mergeSchema,
  newBranchSchema,
  revertSchema,
  versionDiffQuerySchema,
  versionDiffSchema,
  versionListSchema,
  versionQuerySchema,
} from "../version.ts";
import { agentParams } from "./turns.ts";

const versionParams = agentParams.extend({
  version: z.string().regex(/^[1-9]\d{0,14}$/, "expected the number of a version"),
});
const branchParams = agentParams.extend({ branch: branchNameSchema });

/** How a workspace became what it is, and how to take that back. */
export const versionEndpoints = {
  listVersions: defineEndpoint({
    ...routes.listVersions,
    access: "read",
    summary: "The versions of a workspace, the newest first: who changed what.",
    params: agentParams,
    query: versionQuerySchema,
    response: versionListSchema,
  }),
  getVersion: defineEndpoint({
    ...routes.getVersion,
    access: "read",
    summary: "One version with its differences.",
    params: versionParams,
    query: versionDiffQuerySchema,
    response: versionDiffSchema,
  }),
  revert: defineEndpoint({
    ...routes.revert,
    access: "chat",
    summary:
      "Take back a version, or all that a turn or a tool call changed. What was changed later stays; where it overlaps, both are kept. 200 for a dry run and where nothing is to be done.",
    params: agentParams,
    body: revertSchema,
    status: 201,
    response: mergeResponseSchema,
  }),
  listBranches: defineEndpoint({
    ...routes.listBranches,
    access: "read",
    summary: "The branches of a workspace beside main.",
    params: agentParams,
    response: branchListSchema,
  }),
  createBranch: defineEndpoint({
    ...routes.createBranch,
    access: "chat",
    summary: "Make a branch: a copy of the files that is changed by itself.",
    params: agentParams,
    body: newBranchSchema.default({}),
    status: 201,
    response: branchSchema,
  }),
  deleteBranch: defineEndpoint({
    ...routes.deleteBranch,
    access: "chat",
    summary: "Delete a branch with what was changed there only.",
    params: branchParams,
    status: 204,
  }),
  mergeBranch: defineEndpoint({
    ...routes.mergeBranch,
    access: "chat",
    summary:
      "Merge a branch into main, or another. Where both changed the same, both are kept and reported. 200 for a dry run and where nothing is to be done.",
    params: branchParams,
    body: mergeSchema.default({}),
    status: 201,
    response: mergeResponseSchema,
  }),
  openLive: defineEndpoint({
    ...routes.openLive,
    access: "read",
    summary: "The workspace live, in the protocol of y-websocket. Changing anything needs the scope chat.",
    params: agentParams,
    query: fileWriteQuerySchema,
    status: 101,
  }),
} as const;
