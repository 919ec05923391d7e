import { pageProtocol, pageSecretHeader, pageSecretProtocolPrefix } from "@thinkery/sdk/internal";

/**
 * Returns the secret that the page got when it logged in. It is kept in origin-scoped storage, so other servers on this
 * machine, which the browser sends the cookie to, do not have it.
 */
export function readPageSecret({ headers }: Request): string | undefined {
  const header = headers.get(pageSecretHeader);
  if (header !== null) return header;
  const offered = listProtocols(headers).find((name) => name.startsWith(pageSecretProtocolPrefix));
  return offered?.slice(pageSecretProtocolPrefix.length);
}

/** Accepts the page's subprotocol: a browser closes the socket if the server accepts none that it offered. */
export function acceptPageProtocol(request: Request, response: Response): Response {
  if (response.status !== 101 || !listProtocols(request.headers).includes(pageProtocol)) return response;
  const headers = new Headers(response.headers);
  headers.set("sec-websocket-protocol", pageProtocol);
  return new Response(null, { status: 101, webSocket: response.webSocket, headers });
}

function listProtocols(headers: Headers): string[] {
  return (headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
}
