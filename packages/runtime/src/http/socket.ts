import { type Endpoints, endpoints, fail, parseAgencyRef } from "@thinkery/sdk";
import type { Hono } from "hono";
import { enterAgency, enterAgent, requireAgent } from "./directory.ts";
import { forward } from "./forward.ts";
import { isUpgrade } from "./guard.ts";
import { type Call, type HonoEnv, route } from "./route.ts";
import { readSubPath } from "./sub-path.ts";

interface SocketKind {
  plain?: boolean;
  live?: boolean;
}

/** The sockets of agents and agencies. The object checks what callers may send by the scopes we forward. */
export function addSocketRoutes(app: Hono<HonoEnv>): void {
  route(app, endpoints.openSocket, (call) => connect(call, { plain: true }));
  route(app, endpoints.openLive, (call) => connect(call, { live: true }));
  route(app, endpoints.openAgencySocket, (call) => connectAgency(call, { plain: true }));
  route(app, endpoints.openLiveDocuments, (call) => connectAgency(call, { live: true }));
}

type AgencySocketCall = Pick<Call<Endpoints["openAgencySocket"]>, "env" | "request" | "caller" | "params">;

async function connectAgency(
  { env, request, caller, params: { agency } }: AgencySocketCall,
  kind: SocketKind,
): Promise<Response> {
  checkUpgrade(request);
  const object = await enterAgency(env, caller.user, agency);
  return forward(request, object, caller, {
    path: `/agents/agency/${parseAgencyRef(caller.user, agency).key}`,
    ...kind,
  });
}

type SocketCall = Pick<Call<Endpoints["openSocket"]>, "env" | "request" | "caller" | "params">;

async function connect(
  { env, request, caller, params: { agency, agent } }: SocketCall,
  kind: SocketKind,
): Promise<Response> {
  checkUpgrade(request);
  const name = await enterAgent(env, caller.user, agency, agent);
  const sub = readSubPath(request);
  // The SDK's own check would respond with 404, whose reason a browser does not show.
  if (sub.length > 0) await requireAgent({ env, request, caller, params: { agency, agent } });
  const root = env.Think.getByName(name);
  // Live documents are those of the root agent's files.
  const below = kind.live ? "" : sub.map((child) => `/sub/think/${child}`).join("");
  const branch = kind.live && sub.length > 0 ? await root.files.findBranch(sub) : undefined;
  return forward(request, root, caller, { path: `/agents/think/${name}${below}`, branch, ...kind });
}

function checkUpgrade(request: Request): void {
  if (request.method !== "GET" || !isUpgrade(request))
    throw fail("bad_request", "This endpoint is a WebSocket. Connect to it with ws:// or wss://.");
}
