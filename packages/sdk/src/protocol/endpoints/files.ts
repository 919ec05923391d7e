import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import {
  archiveQuerySchema,
  archiveWriteQuerySchema,
  fileDeleteQuerySchema,
  fileEditsSchema,
  fileListQuerySchema,
  fileListSchema,
  fileQuerySchema,
  fileSchema,
  fileWriteQuerySchema,
} from "../file.ts";
import { routes } from "../routes.ts";
import { commitResponseSchema } from "../version.ts";
import { agentParams } from "./turns.ts";

const fileParams = agentParams.extend({
  path: z.string().meta({ description: "The path in the workspace; may contain slashes." }),
});

/** Endpoints for the files of an agent's workspace. */
export const fileEndpoints = {
  listFiles: defineEndpoint({
    ...routes.listFiles,
    access: "read",
    summary: "List the files of an agent's workspace, sorted by path.",
    params: agentParams,
    query: fileListQuerySchema,
    response: fileListSchema,
  }),
  editFiles: defineEndpoint({
    ...routes.editFiles,
    access: "chat",
    summary:
      "Make several changes as one version. With `base`, they are merged with what changed since that version. Returns 200 if nothing changed.",
    params: agentParams,
    query: fileWriteQuerySchema,
    body: fileEditsSchema,
    maxBodyBytes: 8 * 1024 * 1024,
    status: 201,
    response: commitResponseSchema,
  }),
  readFile: defineEndpoint({
    ...routes.readFile,
    access: "read",
    summary: "Read a file. Its hash is the ETag. Supports `If-None-Match` (304) and byte `Range`s (206).",
    params: fileParams,
    query: fileQuerySchema,
    mediaTypes: ["*/*"],
  }),
  putFile: defineEndpoint({
    ...routes.putFile,
    access: "chat",
    summary:
      "Write a file. With `If-Match` (a hash) or `If-None-Match: *`, returns 412 if the condition is not met. Returns 201 if the file is new.",
    params: fileParams,
    query: fileWriteQuerySchema,
    rawBody: true,
    response: fileSchema,
  }),
  deleteFile: defineEndpoint({
    ...routes.deleteFile,
    access: "chat",
    summary: "Delete a file, or with `recursive` a folder and everything in it.",
    params: fileParams,
    query: fileDeleteQuerySchema,
    status: 204,
  }),
  getArchive: defineEndpoint({
    ...routes.getArchive,
    access: "read",
    summary: "Download all files as a zip.",
    params: agentParams,
    query: archiveQuerySchema,
    mediaTypes: ["application/zip"],
  }),
  putArchive: defineEndpoint({
    ...routes.putArchive,
    access: "chat",
    summary: "Write all files of a zip as one version. With `replace`, files that are not in the zip are deleted.",
    params: agentParams,
    query: archiveWriteQuerySchema,
    rawBody: true,
    response: commitResponseSchema,
  }),
} as const;
