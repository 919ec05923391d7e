import { endpoints, fail, globalAgency } from "@thinkery/sdk";
import { Hono } from "hono";
import { counted } from "../host/drain.ts";
import type { Env } from "../objects/env.ts";
import type { System } from "../system/system.ts";
import { refuse } from "./answer.ts";
import { authenticate } from "./authenticate.ts";
import { preflight, share } from "./cors.ts";
import { checkAddress, checkCookie, checkScope } from "./guard.ts";
import { isPagePath, servePage } from "./page.ts";
import type { HonoEnv } from "./route.ts";
import { agencyRoutes } from "./routes/agencies.ts";
import { agentRoutes } from "./routes/agents.ts";
import { appRoutes } from "./routes/app.ts";
import { blueprintRoutes } from "./routes/blueprints.ts";
import { credentialRoutes } from "./routes/credentials.ts";
import { fileRoutes } from "./routes/files.ts";
import { hostRoutes } from "./routes/host.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { modelRoutes } from "./routes/models.ts";
import { processRoutes } from "./routes/processes.ts";
import { turnRoutes } from "./routes/turns.ts";
import { usageRoutes } from "./routes/usage.ts";
import { userRoutes } from "./routes/user.ts";
import { versionRoutes } from "./routes/versions.ts";
import { isSdkPath, sdkRoute } from "./sdk-route.ts";
import { socketRoutes } from "./socket.ts";

const maxUrlChars = 8 * 1024;

const publicPaths = new Set(
  Object.values(endpoints)
    .filter((endpoint) => endpoint.access === "public")
    .map((endpoint) => `${endpoint.method} ${endpoint.path}`),
);

export interface HandlerOptions {
  /** Another admin token, for Workers that no daemon starts. Take it from a secret of theirs, not from the source. */
  secret?: string;
}

/** The outside of the Worker: guard, then page, SDK routes, or the endpoints of `@thinkery/sdk`. */
export function createHandler(system: System, { secret }: HandlerOptions = {}): ExportedHandler<Env> {
  const app = new Hono<HonoEnv>();
  app.use((context, next) =>
    counted(async (release) => {
      context.set("release", release);
      await next();
    }),
  );
  app.use(async (context, next) => {
    const { req, env } = context;
    const caller = await authenticate(req.raw, env, secret);
    if (caller) checkCookie(req.raw, caller);
    const method = req.method === "HEAD" ? "GET" : req.method;
    if (!caller && !publicPaths.has(`${method} ${req.path}`)) checkScope(caller, "any");
    context.set("caller", caller);
    await next();
  });
  app.all("/agents/:class{think|agency|user}/:name/*", (context) =>
    sdkRoute(context.req.raw, context.env, context.get("caller")),
  );
  const rooms = [hostRoutes, modelRoutes, credentialRoutes, agencyRoutes, blueprintRoutes, agentRoutes, turnRoutes, appRoutes, processRoutes, fileRoutes, versionRoutes, usageRoutes, userRoutes, socketRoutes];
  for (const add of rooms) add(app);
  jobRoutes(app, system);
  app.notFound((context) => refuse(unknownRoute(context.req.path)));
  app.onError((error) => refuse(error));

  return {
    async fetch(request, env, context) {
      try {
        checkAddress(request, env);
        return share(await answer(request, env, context), request, env);
      } catch (error) {
        return share(refuse(error), request, env);
      }
    },
  };

  async function answer(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    const permitted = preflight(request, env);
    if (permitted) return permitted;
    if (request.url.length > maxUrlChars) throw fail("bad_request", "The address is too long.");
    const path = new URL(request.url).pathname;
    if ((request.method === "GET" || request.method === "HEAD") && isPagePath(path)) return servePage(path, env);
    return app.fetch(isSdkPath(path) ? request : longForm(request), env, context);
  }
}

/** `/agents…` is short for the agents of the global agency. */
function longForm(request: Request): Request {
  const url = new URL(request.url);
  const match = /^\/agents(\/.*)?$/.exec(url.pathname);
  if (!match) return request;
  const rest = match[1];
  url.pathname = rest ? `/agency/${globalAgency}/agent${rest}` : `/agency/${globalAgency}/agents`;
  return new Request(url, request);
}

function unknownRoute(path: string) {
  const methods = Object.values(endpoints)
    .filter((endpoint) => new RegExp(`^${endpoint.path.replace(/:[a-z]+/g, "[^/]+").replace(/\*[a-z]+$/, ".*")}$`).test(path))
    .map((endpoint) => endpoint.method);
  if (methods.length === 0) return fail("not_found", "There is nothing at this address.");
  return fail("method_not_allowed", `This address takes ${methods.join(", ")}.`);
}
