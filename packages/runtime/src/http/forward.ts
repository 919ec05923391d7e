import { fail, isThinkeryError } from "@thinkery/sdk";
import { formatMembership } from "../objects/credential-watch.ts";
import type { Caller } from "./authenticate.ts";
import { isUpgrade } from "./guard.ts";
import { relaySocket } from "./relay-socket.ts";
import { addSecurityHeaders } from "./response.ts";

interface ForwardOptions {
  /** Replaces the path of the request. */
  path?: string;
  /** A socket without the Agents SDK's own frames. */
  plain?: boolean;
  /** A socket with the y-websocket protocol. */
  live?: boolean;
  /** The branch that it is about, unless the request names one. */
  branch?: string | undefined;
}

/** Forwards a request to an object, with the caller and their scopes in headers that only we can set. */
export async function forward(
  request: Request,
  object: Pick<Fetcher, "fetch">,
  caller: Caller,
  { path, plain = false, live = false, branch }: ForwardOptions = {},
): Promise<Response> {
  const headers = cleanHeaders(request.headers);
  headers.set("x-thinkery-user", caller.user);
  headers.set("x-thinkery-scopes", caller.scopes.join(","));
  if (caller.hash) headers.set("x-thinkery-credential", caller.hash);
  if (caller.isMember) headers.set("x-thinkery-membership", formatMembership(caller.scopes));
  if (plain) headers.set("x-thinkery-socket", "1");
  if (live) headers.set("x-thinkery-yjs", "1");
  const url = new URL(request.url);
  if (path) url.pathname = path;
  if (branch !== undefined && !url.searchParams.has("branch")) url.searchParams.set("branch", branch);
  const response = await checkResponse(await object.fetch(new Request(new Request(url, request), { headers })));
  // Only a credential or a membership, which can end, makes its object close a socket.
  return caller.hash || caller.isMember ? relaySocket(response) : response;
}

/**
 * Browsers hide the status of a rejected handshake, so a socket to something not found is opened and closed with 4403.
 */
export async function closeIfNotFound<T>(request: Request, respond: () => Promise<T>): Promise<T | Response> {
  try {
    return await respond();
  } catch (error) {
    if (isUpgrade(request) && isThinkeryError(error) && error.code === "not_found")
      return createClosedSocket(4403, error.message);
    throw error;
  }
}

/** Removes credentials, and headers that only the SDK's router or we may set. */
function cleanHeaders(original: Headers): Headers {
  const headers = new Headers(original);
  const withheld = ["authorization", "x-secret", "cookie", "sec-websocket-protocol"];
  const isInternal = (name: string) => name.startsWith("x-agents-") || name.startsWith("x-thinkery-");
  const names = Array.from(headers.keys()).filter((name) => isInternal(name) || withheld.includes(name));
  for (const name of names) headers.delete(name);
  return headers;
}

/** Hides server errors: the SDK responds to exceptions with their stack. */
async function checkResponse(response: Response): Promise<Response> {
  if (response.status < 500) return addSecurityHeaders(response);
  console.error("object failed", await response.text());
  throw fail("internal", "Internal error. `thinkery logs` shows the details.");
}

function createClosedSocket(code: number, reason: string): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.close(code, reason);
  return new Response(null, { status: 101, webSocket: client });
}
