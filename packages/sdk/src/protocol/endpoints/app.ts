import { z } from "zod";
import { appSchema, newAppSchema } from "../app.ts";
import { defineEndpoint, type Method } from "../endpoint.ts";
import { routes } from "../routes.ts";
import { agentParams } from "./turns.ts";

const appParams = agentParams.extend({ path: z.string().meta({ description: "where in the app; may have slashes" }) });

/** A request to the app itself: whatever it is, the app answers it. */
const createAppEndpoint = <M extends Method>(route: { method: M; path: string }, access: "read" | "chat") =>
  defineEndpoint({
    ...route,
    access,
    summary: `${route.method} of the agent's app, which answers in a sandbox.`,
    params: appParams,
    rawBody: route.method !== "GET",
    mediaTypes: ["*/*"],
  });

/** The app of an agent. */
export const appEndpoints = {
  getApp: defineEndpoint({
    ...routes.getApp,
    access: "read",
    summary: "The agent's app: its version and where it answers.",
    params: agentParams,
    response: appSchema,
  }),
  putApp: defineEndpoint({
    ...routes.putApp,
    access: "chat",
    summary: "Give an agent an app, in place of the one it has.",
    params: agentParams,
    body: newAppSchema,
    // The code comes in JSON, which writes some characters with six.
    maxBodyBytes: 6 * 1024 * 1024,
    response: appSchema,
  }),
  deleteApp: defineEndpoint({
    ...routes.deleteApp,
    access: "chat",
    summary: "Take the agent's app away.",
    params: agentParams,
    status: 204,
  }),
  fetchApp: createAppEndpoint(routes.fetchApp, "read"),
  postToApp: createAppEndpoint(routes.postToApp, "chat"),
  putToApp: createAppEndpoint(routes.putToApp, "chat"),
  patchToApp: createAppEndpoint(routes.patchToApp, "chat"),
  deleteToApp: createAppEndpoint(routes.deleteToApp, "chat"),
} as const;
