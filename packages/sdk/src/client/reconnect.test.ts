import net, { type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { waitUntil } from "../../../../tests/kit/wait-until.ts";
import { ReconnectingSocket } from "./reconnect.ts";

test("a connection that does not open in time is replaced", async () => {
  const sockets: net.Socket[] = [];
  const server = net.createServer((socket) => void sockets.push(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  let closed = 0;
  const connection = new ReconnectingSocket({
    connect: () => new WebSocket(`ws://127.0.0.1:${port}`) as unknown as globalThis.WebSocket,
    connectTimeoutMs: 50,
    onOpen: () => {},
    onMessage: () => {},
    onClose: () => {
      closed++;
      return "retry";
    },
  });
  onTestFinished(() => {
    connection.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  expect(connection.send("lost")).toBe(false);
  await waitUntil("a second try", () => sockets.length >= 2);
  expect(closed).toBeGreaterThanOrEqual(1);
});
