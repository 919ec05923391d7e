import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import {
  fileDeleteQuerySchema,
  fileEditsSchema,
  fileListQuerySchema,
  fileListSchema,
  fileQuerySchema,
  fileSchema,
} from "../file.ts";
import { routes } from "../routes.ts";
import {
  commitResponseSchema,
  mergeResponseSchema,
  revertSchema,
  versionDiffQuerySchema,
  versionDiffSchema,
  versionListSchema,
  versionQuerySchema,
} from "../version.ts";
import { agencyParams } from "./agency-params.ts";

const documentParams = agencyParams.extend({
  path: z.string().meta({ description: "The path of the document; may contain slashes." }),
});
const versionParams = agencyParams.extend({
  version: z.string().regex(/^[1-9]\d{0,14}$/, "expected a version number"),
});

/** Endpoints for the documents of an agency. They are files of a workspace that its members share. */
export const documentEndpoints = {
  listDocuments: defineEndpoint({
    ...routes.listDocuments,
    access: "read",
    summary: "List the documents of an agency, sorted by path.",
    params: agencyParams,
    query: fileListQuerySchema.omit({ branch: true }),
    response: fileListSchema,
  }),
  editDocuments: defineEndpoint({
    ...routes.editDocuments,
    access: "chat",
    summary: "Make several changes to documents as one version, as with files.",
    params: agencyParams,
    body: fileEditsSchema,
    maxBodyBytes: 8 * 1024 * 1024,
    status: 201,
    response: commitResponseSchema,
  }),
  readDocument: defineEndpoint({
    ...routes.readDocument,
    access: "read",
    summary: "Read a document. Its hash is the ETag.",
    params: documentParams,
    query: fileQuerySchema.omit({ branch: true }),
    mediaTypes: ["*/*"],
  }),
  putDocument: defineEndpoint({
    ...routes.putDocument,
    access: "chat",
    summary: "Write a document. Takes `If-Match` and `If-None-Match: *`. Returns 201 if it is new.",
    params: documentParams,
    rawBody: true,
    response: fileSchema,
  }),
  deleteDocument: defineEndpoint({
    ...routes.deleteDocument,
    access: "chat",
    summary: "Delete a document, or with `recursive` a folder of them.",
    params: documentParams,
    query: fileDeleteQuerySchema.omit({ branch: true }),
    status: 204,
  }),
  listDocumentVersions: defineEndpoint({
    ...routes.listDocumentVersions,
    access: "read",
    summary: "List the versions of an agency's documents, newest first.",
    params: agencyParams,
    query: versionQuerySchema.omit({ branch: true }),
    response: versionListSchema,
  }),
  getDocumentVersion: defineEndpoint({
    ...routes.getDocumentVersion,
    access: "read",
    summary: "Get a version of the documents with its diffs.",
    params: versionParams,
    query: versionDiffQuerySchema,
    response: versionDiffSchema,
  }),
  revertDocuments: defineEndpoint({
    ...routes.revertDocuments,
    access: "chat",
    summary: "Revert a version of the documents, or everything that a turn or a tool call changed in them.",
    params: agencyParams,
    body: revertSchema.refine(({ branch }) => branch === undefined, { error: "documents have no branches" }),
    status: 201,
    response: mergeResponseSchema,
  }),
  openLiveDocuments: defineEndpoint({
    ...routes.openLiveDocuments,
    access: "read",
    summary: "Open the documents over the y-websocket protocol. Making changes requires the scope chat.",
    params: agencyParams,
    query: z.strictObject({}),
    status: 101,
  }),
} as const;
