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
  path: z.string().meta({ description: "where in the workspace; may have slashes" }),
});

/** The files of an agent's workspace. */
export const fileEndpoints = {
  listFiles: defineEndpoint({
    ...routes.listFiles,
    access: "read",
    summary: "The files of an agent's workspace in pages, by path.",
    params: agentParams,
    query: fileListQuerySchema,
    response: fileListSchema,
  }),
  editFiles: defineEndpoint({
    ...routes.editFiles,
    access: "chat",
    summary:
      "Several changes that make one version together. With `base`, what was changed since is merged. 200 where nothing changed.",
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
    summary: "What is in a file. Its hash is the ETag; `If-None-Match` is answered 304, and a `Range` of bytes 206.",
    params: fileParams,
    query: fileQuerySchema,
    mediaTypes: ["*/*"],
  }),
  putFile: defineEndpoint({
    ...routes.putFile,
    access: "chat",
    summary:
      "Write a file: any bytes. `If-Match` with the hash that it should have, or `If-None-Match: *`, is answered 412 where that is not so. 201 when it is new.",
    params: fileParams,
    query: fileWriteQuerySchema,
    rawBody: true,
    response: fileSchema,
  }),
  deleteFile: defineEndpoint({
    ...routes.deleteFile,
    access: "chat",
    summary: "Delete a file, or with `recursive` a folder with all that is in it.",
    params: fileParams,
    query: fileDeleteQuerySchema,
    status: 204,
  }),
  getArchive: defineEndpoint({
    ...routes.getArchive,
    access: "read",
    summary: "All files as a zip.",
    params: agentParams,
    query: archiveQuerySchema,
    mediaTypes: ["application/zip"],
  }),
  putArchive: defineEndpoint({
    ...routes.putArchive,
    access: "chat",
    summary: "Write all files of a zip as one version; with `replace`, files that are not in it are deleted.",
    params: agentParams,
    query: archiveWriteQuerySchema,
    rawBody: true,
    response: commitResponseSchema,
  }),
} as const;
