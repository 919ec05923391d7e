import { endpoints, fail, getDefaultAgency, ownerUser } from "@thinkery/sdk";
import { Hono } from "hono";
import { holdDuring } from "../host/drain.ts";
import type { Env } from "../objects/env.ts";
import type { System } from "../system/system.ts";
import { authenticate, createUnauthorizedError, identifyUser, ticketHeader } from "./authenticate.ts";
import { handlePreflight, addCorsHeaders } from "./cors.ts";
import { checkAddress, checkCookie } from "./guard.ts";
import { acceptPageProtocol } from "./page-secret.ts";
import { isPagePath, servePage } from "./page.ts";
import { toErrorResponse } from "./response.ts";
import type { HonoEnv } from "./route.ts";
import { addAgencyRoutes } from "./routes/agencies.ts";
import { addAgencyToolRoutes } from "./routes/agency-tools.ts";
import { addAgentRoutes } from "./routes/agents.ts";
import { addAppRoutes } from "./routes/app.ts";
import { addBlueprintRoutes } from "./routes/blueprints.ts";
import { addChannelRoutes } from "./routes/channels.ts";
import { addCredentialRoutes } from "./routes/credentials.ts";
import { addDocumentRoutes } from "./routes/documents.ts";
import { addFeedbackRoutes } from "./routes/feedback.ts";
import { addFileRoutes } from "./routes/files.ts";
import { addHostRoutes } from "./routes/host.ts";
import { addJobRoutes } from "./routes/jobs.ts";
import { addModelRoutes } from "./routes/models.ts";
import { addPackageRoutes } from "./routes/packages.ts";
import { addProcessRoutes } from "./routes/processes.ts";
import { addResourceRoutes } from "./routes/resources.ts";
import { addScheduleRoutes } from "./routes/schedules.ts";
import { addSubagentRoutes } from "./routes/subagents.ts";
import { addTaskRoutes } from "./routes/tasks.ts";
import { addTeamTaskRoutes } from "./routes/team-tasks.ts";
import { addTurnRoutes } from "./routes/turns.ts";
import { addUsageRoutes } from "./routes/usage.ts";
import { addUserRoutes } from "./routes/user.ts";
import { addUsersRoutes } from "./routes/users.ts";
import { addVersionRoutes } from "./routes/versions.ts";
import { addWaitRoutes } from "./routes/waits.ts";
import { addWebhookRoutes } from "./routes/webhooks.ts";
import { addWorkflowRoutes } from "./routes/workflows.ts";
import { isSdkPath, handleSdkRequest } from "./sdk-route.ts";
import { expandShortPath, isShortPath } from "./short-path.ts";
import { addSocketRoutes } from "./socket.ts";
import { routeToRoot, splitSubPath } from "./sub-path.ts";

const maxUrlChars = 8 * 1024;

const publicEndpoints = Object.values(endpoints)
  .filter(({ access }) => access === "public")
  .map(({ method, path }) => ({ method, pattern: createPathPattern(path) }));

export interface HandlerOptions {
  /** An additional admin token, for Workers that no daemon starts. Read it from a secret, not from the source. */
  secret?: string;
}

/** Creates the Worker's fetch handler: guard, then page, SDK routes, or the endpoints of `@thinkery/sdk`. */
export function createHandler(system: System, { secret }: HandlerOptions = {}): ExportedHandler<Env> {
  const app = new Hono<HonoEnv>();
  app.use((context, next) =>
    holdDuring(async (release) => {
      context.set("release", release);
      await next();
    }),
  );
  app.use(async (context, next) => {
    const { req, env } = context;
    const caller = await authenticate(req.raw, env, secret);
    if (caller) checkCookie(req.raw, caller);
    const method = req.method === "HEAD" ? "GET" : req.method;
    if (!caller && !isPublic(method, req.path)) throw createUnauthorizedError(req.raw, env);
    context.set("caller", caller);
    await next();
  });
  app.all("/agents/:class{think|agency|user}/:name/*", (context) =>
    handleSdkRequest(context.req.raw, context.env, context.get("caller")),
  );
  const routeGroups = [
    addHostRoutes,
    addModelRoutes,
    addCredentialRoutes,
    addAgencyRoutes,
    addChannelRoutes,
    addBlueprintRoutes,
    addAgentRoutes,
    addTurnRoutes,
    addSubagentRoutes,
    addTaskRoutes,
    addTeamTaskRoutes,
    addFeedbackRoutes,
    addAgencyToolRoutes,
    addWaitRoutes,
    addScheduleRoutes,
    addWebhookRoutes,
    addAppRoutes,
    addPackageRoutes,
    addProcessRoutes,
    addFileRoutes,
    addVersionRoutes,
    addDocumentRoutes,
    addResourceRoutes,
    addUsageRoutes,
    addUserRoutes,
    addUsersRoutes,
    addSocketRoutes,
  ];
  for (const add of routeGroups) add(app);
  addWorkflowRoutes(app, system);
  addJobRoutes(app, system);
  app.notFound((context) => toErrorResponse(createRouteError(context.req.path), context.req.raw));
  app.onError((error, context) => toErrorResponse(error, context.req.raw));

  return {
    async fetch(request, env, context) {
      try {
        checkAddress(request, env);
        return addCorsHeaders(acceptPageProtocol(request, await handle(request, env, context)), request, env);
      } catch (error) {
        return addCorsHeaders(toErrorResponse(error, request), request, env);
      }
    },
  };

  async function handle(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    const preflight = handlePreflight(request, env);
    if (preflight) return preflight;
    if (request.url.length > maxUrlChars)
      throw fail("bad_request", `The URL exceeds the limit of ${maxUrlChars} characters.`);
    const url = new URL(request.url);
    const path = url.pathname;
    if ((request.method === "GET" || request.method === "HEAD") && isPagePath(path)) return servePage(path, env);
    if (isSdkPath(path)) return app.fetch(request, env, context);
    const moved = moveTicket(request, url);
    if (!isShortPath(path)) return app.fetch(routeToRoot(moved, url), env, context);
    const user = identifyUser(moved, env, secret);
    url.pathname = expandShortPath(path, getDefaultAgency(user ?? ownerUser));
    if (user === undefined && !isPublic(request.method, splitSubPath(url.pathname).path))
      throw createUnauthorizedError(moved, env);
    return app.fetch(routeToRoot(new Request(url, moved), url), env, context);
  }
}

/** Moves a ticket from the query to a header: it is a credential, not an option of the endpoint. */
function moveTicket(request: Request, url: URL): Request {
  const ticket = url.searchParams.get("ticket");
  if (ticket === null) return request;
  url.searchParams.delete("ticket");
  const headers = new Headers(request.headers);
  headers.set(ticketHeader, ticket);
  return new Request(new Request(url, request), { headers });
}

function createRouteError(path: string) {
  const methods = Object.values(endpoints)
    .filter((endpoint) => createPathPattern(endpoint.path).test(path))
    .map((endpoint) => endpoint.method);
  if (methods.length === 0) return fail("not_found", "No such endpoint. GET /openapi.json lists all endpoints.");
  return fail("method_not_allowed", `Method not allowed. This endpoint accepts ${methods.join(", ")}.`);
}

function isPublic(method: string, path: string): boolean {
  return publicEndpoints.some((endpoint) => endpoint.method === method && endpoint.pattern.test(path));
}

function createPathPattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/:[a-z]+/g, "[^/]+").replace(/\*[a-z]+$/, ".*")}$`);
}
