import { agencyRefSchema, agentNameSchema, fail, parseAddress, parseAgencyRef, userNameSchema } from "@thinkery/sdk";
import { z } from "zod";
import type { Env } from "../objects/env.ts";
import type { Caller } from "./authenticate.ts";
import { validate } from "./body.ts";
import { enterAgency, enterAgent, narrowCaller } from "./directory.ts";
import { forward, closeIfNotFound } from "./forward.ts";
import { checkMayDo, checkScope } from "./guard.ts";

/**
 * The Agents SDK's own protocol, `/agents/{class}/{name}[/sub/…]`. Its routes are open by default; here a request only
 * passes to an object that exists and that the caller has access to.
 */
export function isSdkPath(path: string): boolean {
  return /^\/agents\/(think|agency|user)\/[^/]/.test(path);
}

export async function handleSdkRequest(request: Request, env: Env, caller: Caller | undefined): Promise<Response> {
  checkScope(caller, "read");
  const url = new URL(request.url);
  // That transport calls methods of an object directly; ours are not meant for clients.
  if (url.searchParams.has("__agents_transport"))
    throw fail("bad_request", "Only the WebSocket transport is supported.");
  const [, , kind = "", segment = "", ...rest] = url.pathname.split("/");
  return closeIfNotFound(request, async () => {
    const { object, name, agency } = await resolveObject(kind, decodeSegment(segment), env, caller);
    const narrowed = agency === undefined ? caller : await narrowCaller(env, caller, agency);
    if (agency !== undefined) checkMayDo(narrowed, "read", agency);
    return forward(request, object, narrowed, { path: ["", "agents", kind, name, ...rest].join("/") });
  });
}

/** An object that a path names, and the name by which the SDK knows it. */
interface ResolvedObject {
  object: Pick<Fetcher, "fetch">;
  name: string;
  /** The agency that it is in, or is, as the caller names it. */
  agency?: string;
}

async function resolveObject(kind: string, name: string, env: Env, caller: Caller): Promise<ResolvedObject> {
  if (kind === "user") {
    validate("path", z.object({ user: userNameSchema }), { user: name });
    if (name !== caller.user) throw fail("not_found", "User not found.");
    return { object: env.User.getByName(name), name };
  }
  if (kind === "agency") {
    validate("path", z.object({ agency: agencyRefSchema }), { agency: name });
    const { key } = parseAgencyRef(caller.user, name);
    return { object: await enterAgency(env, caller.user, name), name: key, agency: name };
  }
  const { agency, path: [agent, ...subAgents] = [""] } = parseAddress(name) ?? {};
  if (agency === undefined || subAgents.length > 0)
    throw fail("bad_request", "Invalid object name: agents are addressed as agency~agent.");
  validate("path", z.object({ agency: agencyRefSchema, agent: agentNameSchema }), { agency, agent });
  const objectName = await enterAgent(env, caller.user, agency, agent);
  return { object: env.Think.getByName(objectName), name: objectName, agency };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw fail("bad_request", "Invalid URL: malformed percent-encoding.");
  }
}
