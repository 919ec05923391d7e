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
  version: z.string().regex(/^[1-9]\d{0,14}$/, "expected a version number"),
});
const branchParams = agentParams.extend({ branch: branchNameSchema });

/** Endpoints for the versions and branches of a workspace. */
export const versionEndpoints = {
  listVersions: defineEndpoint({
    ...routes.listVersions,
    access: "read",
    summary: "List the versions of a workspace, newest first: who changed what.",
    params: agentParams,
    query: versionQuerySchema,
    response: versionListSchema,
  }),
  getVersion: defineEndpoint({
    ...routes.getVersion,
    access: "read",
    summary: "Get a version with its diffs.",
    params: versionParams,
    query: versionDiffQuerySchema,
    response: versionDiffSchema,
  }),
  revert: defineEndpoint({
    ...routes.revert,
    access: "chat",
    summary:
      "Revert a version, or everything that a turn or a tool call changed. Later changes stay; where they overlap, both are kept. Returns 200 for a dry run or if there is nothing to do.",
    params: agentParams,
    body: revertSchema,
    status: 201,
    response: mergeResponseSchema,
  }),
  listBranches: defineEndpoint({
    ...routes.listBranches,
    access: "read",
    summary: "List the branches of a workspace, except main.",
    params: agentParams,
    response: branchListSchema,
  }),
  createBranch: defineEndpoint({
    ...routes.createBranch,
    access: "chat",
    summary: "Create a branch: a copy of the files that changes independently.",
    params: agentParams,
    body: newBranchSchema.default({}),
    status: 201,
    response: branchSchema,
  }),
  deleteBranch: defineEndpoint({
    ...routes.deleteBranch,
    access: "chat",
    summary: "Delete a branch and its unmerged changes.",
    params: branchParams,
    status: 204,
  }),
  mergeBranch: defineEndpoint({
    ...routes.mergeBranch,
    access: "chat",
    summary:
      "Merge a branch into main or another branch. If both changed the same place, both changes are kept and reported. A `check` that fails is a conflict with its output. Returns 200 for a dry run or if there is nothing to do.",
    params: branchParams,
    body: mergeSchema.default({}),
    status: 201,
    response: mergeResponseSchema,
  }),
  openLive: defineEndpoint({
    ...routes.openLive,
    access: "read",
    summary: "Open the live workspace over the y-websocket protocol. Making changes requires the scope chat.",
    params: agentParams,
    query: fileWriteQuerySchema,
    status: 101,
  }),
} as const;
