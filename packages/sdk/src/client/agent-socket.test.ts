import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { waitUntil } from "../../../../tests/kit/wait-until.ts";
import { type AgentSocket, openAgentSocket, type AgentSocketOptions } from "./agent-socket.ts";

/** A real server that records each connection and what it received. */
async function serve(onConnection: (connection: Connection, round: number) => void = () => {}, refuse?: number) {
  const connections: Connection[] = [];
  const server = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    verifyClient: (_info, done) => (refuse ? done(false, refuse, "No") : done(true)),
  });
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  server.on("connection", (socket, request) => {
    const connection: Connection = { socket, request, received: [] };
    connections.push(connection);
    socket.on("message", (data) => connection.received.push(JSON.parse(String(data))));
    onConnection(connection, connections.length);
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/agency/global/agent/alice/ws`, connections };
}

interface Connection {
  socket: WebSocket;
  request: IncomingMessage;
  received: any[];
}

function openSocket(options: Omit<AgentSocketOptions, "onFrame" | "connect">) {
  const frames: any[] = [];
  const states: string[] = [];
  const opened: AgentSocket = openAgentSocket({
    ...options,
    onFrame: (frame) => frames.push(frame),
    onConnection: (state) => states.push(state),
    connect: (url, headers) => new WebSocket(url, { headers }) as unknown as globalThis.WebSocket,
  });
  onTestFinished(() => opened.close());
  return { ...opened, frames, states };
}

const createQueuedFrame = (id: string) =>
  JSON.stringify({ type: "task-queued", id, taskId: "run", position: 0, messages: [{ id }] });

test("a message is sent again with its id until the agent confirms it", async () => {
  const { url, connections } = await serve(({ socket }, round) => {
    socket.on("message", (data) => {
      const { id } = JSON.parse(String(data));
      // The first connection dies with both messages unconfirmed, the second after one was confirmed.
      if (round === 1 && id === "two") socket.terminate();
      if (round === 2 && id === "one") socket.send(createQueuedFrame("one"), () => socket.terminate());
      if (round === 3) socket.send(createQueuedFrame("two"), () => socket.terminate());
    });
  });
  const { send, frames } = openSocket({ url });
  // Sent before there is any connection.
  send({ type: "chat", id: "one", content: "a" });
  send({ type: "chat", id: "two", content: "b" });
  await waitUntil("the fourth connection", () => connections[3]);
  send({ type: "cancel" });
  await waitUntil("the cancel", () => connections[3]?.received.length === 1);
  expect(connections[1]?.received.map(({ id }) => id)).toContain("one");
  expect(connections[2]?.received).toEqual([{ type: "chat", id: "two", content: "b" }]);
  expect(connections[3]?.received).toEqual([{ type: "cancel" }]);
  expect(frames.map(({ messages }) => messages[0].id)).toEqual(["one", "two"]);
});

test("a message that the agent rejected is not sent again", async () => {
  const { url, connections } = await serve(({ socket }, round) => {
    if (round > 1) return;
    socket.on("message", () =>
      socket.send(JSON.stringify({ type: "error", error: "no", id: "one" }), () => socket.terminate()),
    );
  });
  const { send } = openSocket({ url });
  send({ type: "chat", id: "one", content: "a" });
  await waitUntil("the second connection", () => connections[1]);
  send({ type: "cancel", runId: "r" });
  await waitUntil("the cancel", () => connections[1]?.received.length === 1);
  expect(connections[1]?.received).toEqual([{ type: "cancel", runId: "r" }]);
});

test("a message that is too large for the host fails with an error, and the others are sent again", async () => {
  const { url, connections } = await serve(({ socket }) => {
    socket.on("message", (data) => String(data).length > 100 && socket.close(1009));
  });
  const { send, frames } = openSocket({ url });
  send({ type: "chat", id: "small", content: "a" });
  send({ type: "chat", id: "big", content: "x".repeat(100) });
  await waitUntil("the second connection", () => (connections[1]?.received.length ?? 0) > 0);
  expect(connections[1]?.received).toEqual([{ type: "chat", id: "small", content: "a" }]);
  expect(frames).toMatchObject([{ type: "error", id: "big", code: "too_large" }]);
});

test("a cancel without a connection is sent once with the next, and a subscription to actions with each", async () => {
  const { url, connections } = await serve(({ socket }, round) => {
    if (round < 3) socket.on("message", () => socket.terminate());
  });
  const { send } = openSocket({ url });
  send({ type: "actions", on: true });
  send({ type: "cancel" });
  await waitUntil("the third connection", () => connections[2]?.received.length);
  expect(connections[0]?.received[0]).toEqual({ type: "actions", on: true });
  expect(connections[2]?.received).toEqual([{ type: "actions", on: true }]);
});

test("a cancel and an approval that were sent without a connection are delivered once with the next", async () => {
  const { url, connections } = await serve();
  const { send } = openSocket({ url });
  send({ type: "cancel" });
  send({ type: "approve", approvalId: "a", approved: false, reason: "No." });
  await waitUntil("both", () => connections[0]?.received.length === 2);
  send({ type: "actions", on: false });
  await waitUntil("one more", () => connections[0]?.received.length === 3);
  expect(connections[0]?.received.map(({ type }) => type)).toEqual(["cancel", "approve", "actions"]);
});

test("batches are unpacked, invalid frames skipped, and the next connection resumes after the last event", async () => {
  const { url, connections } = await serve(({ socket }, round) => {
    if (round > 1) return void socket.send(JSON.stringify({ type: "status", status: "idle" }));
    for (const invalid of ["no json", "null", "5"]) socket.send(invalid);
    socket.send(Buffer.from([1]));
    const frames = [
      { type: "run.tick", seq: 8, ts: "", threadId: "t", data: {} },
      { type: "text_delta", delta: "x", messageId: "m" },
    ];
    socket.send(JSON.stringify({ type: "batch", frames }));
    socket.send(JSON.stringify({ type: "run.tick", seq: 9, ts: "", threadId: "t", data: {} }), () =>
      socket.terminate(),
    );
  });
  const { frames, states } = openSocket({ url, only: "events", after: 3, token: "t0ken" });
  await waitUntil("the second connection", () => frames.length === 4);
  expect(frames.map(({ type }) => type)).toEqual(["run.tick", "text_delta", "run.tick", "status"]);
  expect(connections.map(({ request }) => new URL(request.url ?? "", "http://x").search)).toEqual([
    "?batch=1&only=events&after=3",
    "?batch=1&only=events&after=9",
  ]);
  expect(connections[0]?.request.headers.authorization).toBe("Bearer t0ken");
  expect(states.slice(0, 3)).toEqual(["open", "lost", "open"]);
});

test("a socket that is disconnected before its first event resumes from the first sync frame", async () => {
  const { url, connections } = await serve(({ socket }, round) => {
    const sync = JSON.stringify({ type: "sync", state: {}, last: 41 });
    socket.send(sync, () => round === 1 && socket.terminate());
  });
  openSocket({ url });
  await waitUntil("the second connection", () => connections.length === 2);
  expect(connections.map(({ request }) => new URL(request.url ?? "", "http://x").searchParams.get("after"))).toEqual([
    null,
    "41",
  ]);
});

test("received data is acknowledged every 256 KiB", async () => {
  const frame = JSON.stringify({ type: "text_delta", delta: "x".repeat(100_000), messageId: "m" });
  const { url, connections } = await serve(({ socket }) => {
    for (let sent = 0; sent < 7; sent++) socket.send(frame);
  });
  const { frames } = openSocket({ url });
  await waitUntil("all frames", () => frames.length === 7);
  await waitUntil("the acks", () => connections[0]?.received.length === 2);
  expect(connections[0]?.received).toEqual([{ type: "ack" }, { type: "ack" }]);
});

test("a socket that is refused does not reconnect", async () => {
  const closing = await serve(({ socket }) => socket.close(4403, "not yours"));
  const first = openSocket({ url: closing.url });
  await waitUntil("refused", () => first.states.includes("refused"));
  expect(first.states).toEqual(["open", "refused"]);

  const refusing = await serve(undefined, 404);
  const second = openSocket({ url: refusing.url });
  await waitUntil("refused", () => second.states.includes("refused"));
  expect(second.states).toEqual(["refused"]);
});

test("a socket reconnects to a host that is not ready until it is closed", async () => {
  const { url, connections } = await serve(undefined, 503);
  const { states, close } = openSocket({ url });
  await waitUntil("two attempts", () => states.length === 2);
  expect(states).toEqual(["lost", "lost"]);
  expect(connections).toEqual([]);
  close();
});
