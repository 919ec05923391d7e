import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { watch } from "./watch.ts";

async function serve(port = 0): Promise<WebSocketServer> {
  const server = new WebSocketServer({ host: "127.0.0.1", port });
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return server;
}

const getPort = (server: WebSocketServer) => (server.address() as AddressInfo).port;
const state = (revision: number) => JSON.stringify({ type: "cf_agent_state", state: { revision } });

test("watch follows states, skips other frames, and reconnects", async () => {
  const server = await serve();
  let round = 0;
  server.on("connection", (socket) => {
    round++;
    socket.send(Buffer.from([1, 2]));
    socket.send("not json");
    socket.send(JSON.stringify({ type: "cf_agent_identity" }));
    socket.send(state(round));
    if (round === 1) socket.terminate();
  });
  const seen: number[] = [];
  const connections: boolean[] = [];
  await new Promise<void>((resolve) => {
    const stop = watch<{ revision: number }>({
      url: `ws://127.0.0.1:${getPort(server)}`,
      connect: (address) => new WebSocket(address) as unknown as globalThis.WebSocket,
      onState: ({ revision }) => {
        seen.push(revision);
        if (revision === 2) {
          stop();
          resolve();
        }
      },
      onConnection: (connected) => connections.push(connected),
    });
  });
  expect(seen).toEqual([1, 2]);
  expect(connections.slice(0, 3)).toEqual([true, false, true]);
});

test("the unsubscribe function closes the connection for good", async () => {
  const server = await serve();
  const opened = new Promise<void>((resolve) => server.once("connection", () => resolve()));
  const stop = watch({
    url: `ws://127.0.0.1:${getPort(server)}`,
    connect: (address) => new WebSocket(address) as unknown as globalThis.WebSocket,
    onState: () => {},
  });
  await opened;
  const [socket] = server.clients;
  const closed = new Promise((resolve) => socket?.once("close", resolve));
  stop();
  await closed;
  expect(server.clients.size).toBe(0);
});
