import { agencyIdSchema, agentNameSchema, fail, isThinkeryError, parseAgentObjectName, userNameSchema } from "@thinkery/sdk";
import { z } from "zod";
import type { Env } from "../objects/env.ts";
import type { Caller } from "./authenticate.ts";
import { validate } from "./body.ts";
import { enterAgency, enterAgent } from "./directory.ts";
import { checkScope, isUpgrade } from "./guard.ts";

/**
 * The Agents SDK's own protocol, `/agents/{class}/{name}[/sub/…]`. Its routes are open by default; here a
 * request is let through only to an object that exists and that the caller may enter.
 */
export function isSdkPath(path: string): boolean {
  return /^\/agents\/(think|agency|user)\/[^/]/.test(path);
}

export async function sdkRoute(request: Request, env: Env, caller: Caller | undefined): Promise<Response> {
  checkScope(caller, "read");
  const url = new URL(request.url);
  // This transport calls methods of an object natively; ours are not for clients.
  if (url.searchParams.has("__agents_transport")) throw fail("bad_request", "Only the WebSocket transport is offered.");
  try {
    const object = await reach(url.pathname, env, caller);
    return await answerOf(await object.fetch(cleaned(request)));
  } catch (error) {
    // A browser hides the status of a refused handshake, so a foreign socket is told by its close code.
    if (isUpgrade(request) && isThinkeryError(error) && error.code === "not_found") return closed(4403, error.message);
    throw error;
  }
}

async function reach(path: string, env: Env, caller: Caller): Promise<{ fetch: Fetcher["fetch"] }> {
  const [, , kind, segment = ""] = path.split("/");
  const name = decoded(segment);
  if (kind === "user") {
    validate("address", z.object({ user: userNameSchema }), { user: name });
    if (name !== caller.user) throw fail("not_found", "That is somebody else.");
    return env.User.getByName(name);
  }
  if (kind === "agency") {
    validate("address", z.object({ agency: agencyIdSchema }), { agency: name });
    await enterAgency(env, caller.user, name);
    return env.Agency.getByName(name);
  }
  const parts = parseAgentObjectName(name);
  if (!parts) throw fail("bad_request", "An agent's object is named agency~agent.");
  validate("address", z.object({ agency: agencyIdSchema, agent: agentNameSchema }), parts);
  await enterAgent(env, caller.user, parts.agency, parts.agent);
  return env.Think.getByName(name);
}

/** Objects never see a credential, and no client sets what only the SDK's own router may. */
function cleaned(request: Request): Request {
  const headers = new Headers(request.headers);
  const withheld = ["authorization", "x-secret", "cookie"];
  const names = Array.from(headers.keys()).filter((name) => name.startsWith("x-agents-") || withheld.includes(name));
  for (const name of names) headers.delete(name);
  return new Request(request, { headers });
}

/** The SDK answers an exception with its stack; nobody outside may read that. */
async function answerOf(response: Response): Promise<Response> {
  if (response.status < 500) return response;
  console.error("object failed", await response.text());
  throw fail("internal", "Something went wrong here. The host's log says more.");
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw fail("bad_request", "The address is not valid: a percent sign that starts nothing.");
  }
}

function closed(code: number, reason: string): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.close(code, reason);
  return new Response(null, { status: 101, webSocket: client });
}
