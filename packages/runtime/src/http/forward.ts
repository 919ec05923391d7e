import { fail, isThinkeryError } from "@thinkery/sdk";
import type { Caller } from "./authenticate.ts";
import { isUpgrade } from "./guard.ts";

interface ForwardOptions {
  /** Where the object is asked instead of where the client asked. */
  path?: string;
  /** A socket of ours, without the Agents SDK's own frames. */
  plain?: boolean;
  /** A socket in the protocol of y-websocket. */
  live?: boolean;
}

/** Hands a request on to an object, with who asks and what they may do in headers that only we can set. */
export async function forward(
  request: Request,
  object: Pick<Fetcher, "fetch">,
  caller: Caller,
  { path, plain = false, live = false }: ForwardOptions = {},
): Promise<Response> {
  const headers = cleanHeaders(request.headers);
  headers.set("x-thinkery-user", caller.user);
  headers.set("x-thinkery-scopes", caller.scopes.join(","));
  if (plain) headers.set("x-thinkery-socket", "1");
  if (live) headers.set("x-thinkery-yjs", "1");
  const url = new URL(request.url);
  if (path) url.pathname = path;
  return checkResponse(await object.fetch(new Request(new Request(url, request), { headers })));
}

/** A browser hides the status of a refused handshake, so a socket to what is not the caller's is told by its close code. */
export async function closeIfNotFound(request: Request, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    if (isUpgrade(request) && isThinkeryError(error) && error.code === "not_found")
      return createClosedSocket(4403, error.message);
    throw error;
  }
}

/** Objects never see a credential, and no client sets what only the SDK's own router or we may. */
function cleanHeaders(given: Headers): Headers {
  const headers = new Headers(given);
  const withheld = ["authorization", "x-secret", "cookie"];
  const isInternal = (name: string) => name.startsWith("x-agents-") || name.startsWith("x-thinkery-");
  const names = Array.from(headers.keys()).filter((name) => isInternal(name) || withheld.includes(name));
  for (const name of names) headers.delete(name);
  return headers;
}

/** The SDK answers an exception with its stack; nobody outside may read that. */
async function checkResponse(response: Response): Promise<Response> {
  if (response.status < 500) return response;
  console.error("object failed", await response.text());
  throw fail("internal", "Something went wrong here. The host's log says more.");
}

function createClosedSocket(code: number, reason: string): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.close(code, reason);
  return new Response(null, { status: 101, webSocket: client });
}
