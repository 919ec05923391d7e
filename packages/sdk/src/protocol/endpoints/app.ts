import { z } from "zod";
import { appSchema, newAppSchema } from "../app.ts";
import { defineEndpoint, type Method } from "../endpoint.ts";
import { routes } from "../routes.ts";
import { agentParams } from "./turns.ts";

const appParams = agentParams.extend({
  path: z.string().meta({ description: "The path in the app; may contain slashes." }),
});

/** An endpoint that passes requests of any kind to the app. */
const createAppEndpoint = <M extends Method>(route: { method: M; path: string }, access: "read" | "chat") =>
  defineEndpoint({
    ...route,
    access,
    summary: `Send a ${route.method} request to the agent's app.`,
    params: appParams,
    rawBody: route.method !== "GET",
    mediaTypes: ["*/*"],
  });

/** Endpoints for the app of an agent. */
export const appEndpoints = {
  getApp: defineEndpoint({
    ...routes.getApp,
    access: "read",
    summary: "Get the agent's app: its version and address.",
    params: agentParams,
    response: appSchema,
  }),
  putApp: defineEndpoint({
    ...routes.putApp,
    access: "chat",
    summary: "Set the agent's app, replacing the current one.",
    params: agentParams,
    body: newAppSchema,
    // JSON may escape one character of the code as six.
    maxBodyBytes: 6 * 1024 * 1024,
    response: appSchema,
  }),
  deleteApp: defineEndpoint({
    ...routes.deleteApp,
    access: "chat",
    summary: "Delete the agent's app.",
    params: agentParams,
    status: 204,
  }),
  fetchApp: createAppEndpoint(routes.fetchApp, "read"),
  postToApp: createAppEndpoint(routes.postToApp, "chat"),
  putToApp: createAppEndpoint(routes.putToApp, "chat"),
  patchToApp: createAppEndpoint(routes.patchToApp, "chat"),
  deleteToApp: createAppEndpoint(routes.deleteToApp, "chat"),
} as const;
