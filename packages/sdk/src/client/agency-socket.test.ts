import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { type WatchAgencyOptions, watchAgency } from "./agency-socket.ts";

async function serve(
  onConnection: (socket: WebSocket, request: IncomingMessage, round: number) => void,
): Promise<string> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  let round = 0;
  server.on("connection", (socket, request) => onConnection(socket, request, ++round));
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/agency/global/ws`;
}

const connect: WatchAgencyOptions["connect"] = (url, headers) =>
  new WebSocket(url, { headers }) as unknown as globalThis.WebSocket;

const sync = JSON.stringify({ type: "sync", agents: [] });
const removed = (name: string) => JSON.stringify({ type: "channel-removed", name });

test("frames are received with the token, what is no frame is skipped, and each connection begins with a sync", async () => {
  const authorizations: (string | undefined)[] = [];
  const url = await serve((socket, { headers }, round) => {
    authorizations.push(headers.authorization);
    for (const data of [sync, Buffer.from([1]), "{", "null", "[1]", removed(`round-${round}`)]) socket.send(data);
    if (round === 1) socket.close(1012);
  });
  const frames: string[] = [];
  const states: string[] = [];
  await new Promise<void>((resolve) => {
    const stop = watchAgency({
      url,
      token: "secret",
      connect,
      onFrame(frame) {
        frames.push(frame.type === "channel-removed" ? frame.name : frame.type);
        if (frames.length < 4) return;
        stop();
        resolve();
      },
      onConnection: (state) => states.push(state),
    });
  });
  expect(frames).toEqual(["sync", "round-1", "sync", "round-2"]);
  expect(states.slice(0, 3)).toEqual(["open", "lost", "open"]);
  expect(authorizations).toEqual(["Bearer secret", "Bearer secret"]);
});

test("a client that received much says that it reads", async () => {
  const acked = new Promise<string>((resolve) => {
    void serve((socket) => {
      socket.on("message", (data) => resolve(String(data)));
      for (let count = 0; count < 4; count++) socket.send(removed("x".repeat(80_000)));
    }).then((url) => onTestFinished(watchAgency({ url, connect, onFrame: () => {} })));
  });
  expect(await acked).toBe('{"type":"ack"}');
});

test("a refusal is reported with its reason and not retried", async () => {
  const url = await serve((socket, _request, round) =>
    socket.close(round === 1 ? 4404 : 1000, "There is no agency “x”."),
  );
  const states: unknown[] = [];
  await new Promise<void>((resolve) => {
    watchAgency({
      url,
      connect,
      onFrame: () => {},
      onConnection(state, reason) {
        states.push([state, reason]);
        if (state !== "open") resolve();
      },
    });
  });
  expect(states).toEqual([
    ["open", undefined],
    ["refused", "There is no agency “x”."],
  ]);
});
