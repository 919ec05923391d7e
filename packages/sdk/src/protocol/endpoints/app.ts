import { z } from "zod";
import { appSchema, newAppSchema } from "../app.ts";
import { endpoint, type Method } from "../endpoint.ts";
import { routes } from "../routes.ts";
import { anAgent } from "./turns.ts";

const inApp = anAgent.extend({ path: z.string().meta({ description: "where in the app; may have slashes" }) });

/** A request to the app itself: whatever it is, the app answers it. */
const toApp = <M extends Method>(route: { method: M; path: string }, access: "read" | "chat") =>
  endpoint({ ...route, access, summary: `${route.method} of the agent's app, which answers in a sandbox.`, params: inApp, anyBody: route.method !== "GET", media: ["*/*"] });

/** The app of an agent. */
export const appEndpoints = {
  getApp: endpoint({
    ...routes.getApp,
    access: "read",
    summary: "The agent's app: its version and where it answers.",
    params: anAgent,
    answer: appSchema,
  }),
  putApp: endpoint({
    ...routes.putApp,
    access: "chat",
    summary: "Give an agent an app, in place of the one it has.",
    params: anAgent,
    body: newAppSchema,
    // The code comes in JSON, which writes some characters with six.
    longestBody: 6 * 1024 * 1024,
    answer: appSchema,
  }),
  deleteApp: endpoint({
    ...routes.deleteApp,
    access: "chat",
    summary: "Take the agent's app away.",
    params: anAgent,
    status: 204,
  }),
  fetchApp: toApp(routes.fetchApp, "read"),
  postToApp: toApp(routes.postToApp, "chat"),
  putToApp: toApp(routes.putToApp, "chat"),
  patchToApp: toApp(routes.patchToApp, "chat"),
  deleteToApp: toApp(routes.deleteToApp, "chat"),
} as const;
