/**
 * Relays a socket between a client and an object, message by message. workerd keeps the connection of a hibernatable
 * socket that its object closes before the client has sent anything, until the object is evicted. A socket that is
 * accepted here ends at once.
 */
export function relaySocket(response: Response): Response {
  const { webSocket: object } = response;
  if (!object) return response;
  const { 0: client, 1: server } = new WebSocketPair();
  for (const socket of [object, server]) {
    socket.binaryType = "arraybuffer";
    socket.accept();
  }
  pipe(object, server);
  pipe(server, object);
  return new Response(null, { status: 101, webSocket: client });
}

function pipe(from: WebSocket, to: WebSocket): void {
  // A closing socket throws; its own close event follows.
  const attempt = (action: () => void) => {
    try {
      action();
    } catch {
      // Closed in the meantime.
    }
  };
  from.addEventListener("message", ({ data }) => attempt(() => to.send(data as string | ArrayBuffer)));
  from.addEventListener("close", ({ code, reason }) =>
    attempt(() => (code === 1005 || code === 1006 ? to.close(1001) : to.close(code, reason))),
  );
  from.addEventListener("error", () => attempt(() => to.close(1011)));
}
