import net, { type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { waitUntil } from "../../../../tests/kit/wait-until.ts";
import { ReconnectingSocket } from "./reconnect.ts";

test("a server that takes the connection and says nothing is not waited for", async () => {
  const sockets: net.Socket[] = [];
  const server = net.createServer((socket) => void sockets.push(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  let ended = 0;
  const connection = new ReconnectingSocket({
    connect: () => new WebSocket(`ws://127.0.0.1:${port}`) as unknown as globalThis.WebSocket,
    connectTimeoutMs: 50,
    onOpen: () => {},
    onMessage: () => {},
    onEnded: () => {
      ended++;
      return "again";
    },
  });
  onTestFinished(() => {
    connection.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  expect(connection.send("lost")).toBe(false);
  await waitUntil("a second try", () => sockets.length >= 2);
  expect(ended).toBeGreaterThanOrEqual(1);
});
