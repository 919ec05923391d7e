import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { waitUntil } from "../../../../tests/kit/wait-until.ts";
import { type AgentSocket, openAgentSocket, type AgentSocketOptions } from "./agent-socket.ts";

/** A real server that remembers what it was asked and told, one entry a connection. */
async function serve(onConnection: (visit: Visit, round: number) => void = () => {}, refuse?: number) {
  const visits: Visit[] = [];
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
    const visit: Visit = { socket, request, told: [] };
    visits.push(visit);
    socket.on("message", (data) => visit.told.push(JSON.parse(String(data))));
    onConnection(visit, visits.length);
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/agency/global/agent/alice/ws`, visits };
}

interface Visit {
  socket: WebSocket;
  request: IncomingMessage;
  told: any[];
}

function openTalk(options: Omit<AgentSocketOptions, "onFrame" | "connect">) {
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

test("a message is said again with its id until the agent has it, and then no more", async () => {
  const { url, visits } = await serve(({ socket }, round) => {
    socket.on("message", (data) => {
      const { id } = JSON.parse(String(data));
      // The first connection dies with both messages unanswered, the second after one answer.
      if (round === 1 && id === "two") socket.terminate();
      if (round === 2 && id === "one") socket.send(createQueuedFrame("one"), () => socket.terminate());
      if (round === 3) socket.send(createQueuedFrame("two"), () => socket.terminate());
    });
  });
  const { send, frames } = openTalk({ url });
  // Said before there is any connection.
  send({ type: "chat", id: "one", content: "a" });
  send({ type: "chat", id: "two", content: "b" });
  await waitUntil("the fourth connection", () => visits[3]);
  send({ type: "cancel" });
  await waitUntil("the cancel", () => visits[3]?.told.length === 1);
  expect(visits[1]?.told.map(({ id }) => id)).toContain("one");
  expect(visits[2]?.told).toEqual([{ type: "chat", id: "two", content: "b" }]);
  expect(visits[3]?.told).toEqual([{ type: "cancel" }]);
  expect(frames.map(({ messages }) => messages[0].id)).toEqual(["one", "two"]);
});

test("a message the agent refused is not said again", async () => {
  const { url, visits } = await serve(({ socket }, round) => {
    if (round > 1) return;
    socket.on("message", () =>
      socket.send(JSON.stringify({ type: "error", error: "no", id: "one" }), () => socket.terminate()),
    );
  });
  const { send } = openTalk({ url });
  send({ type: "chat", id: "one", content: "a" });
  await waitUntil("the second connection", () => visits[1]);
  send({ type: "cancel", runId: "r" });
  await waitUntil("the cancel", () => visits[1]?.told.length === 1);
  expect(visits[1]?.told).toEqual([{ type: "cancel", runId: "r" }]);
});

test("a message too large for the host is given up with an error, and the others are said again", async () => {
  const { url, visits } = await serve(({ socket }) => {
    socket.on("message", (data) => String(data).length > 100 && socket.close(1009));
  });
  const { send, frames } = openTalk({ url });
  send({ type: "chat", id: "small", content: "a" });
  send({ type: "chat", id: "big", content: "x".repeat(100) });
  await waitUntil("the second connection", () => (visits[1]?.told.length ?? 0) > 0);
  expect(visits[1]?.told).toEqual([{ type: "chat", id: "small", content: "a" }]);
  expect(frames).toMatchObject([{ type: "error", id: "big", code: "too_large" }]);
});

test("a cancel said without a connection is sent once with the next, the wish for actions with every one", async () => {
  const { url, visits } = await serve(({ socket }, round) => {
    if (round < 3) socket.on("message", () => socket.terminate());
  });
  const { send } = openTalk({ url });
  send({ type: "actions", on: true });
  send({ type: "cancel" });
  await waitUntil("the third connection", () => visits[2]?.told.length);
  expect(visits[0]?.told[0]).toEqual({ type: "actions", on: true });
  expect(visits[2]?.told).toEqual([{ type: "actions", on: true }]);
});

test("a cancel and an approval said before there is a connection are sent with it, once", async () => {
  const { url, visits } = await serve();
  const { send } = openTalk({ url });
  send({ type: "cancel" });
  send({ type: "approve", approvalId: "a", approved: false, reason: "No." });
  await waitUntil("both", () => visits[0]?.told.length === 2);
  send({ type: "actions", on: false });
  await waitUntil("one more", () => visits[0]?.told.length === 3);
  expect(visits[0]?.told.map(({ type }) => type)).toEqual(["cancel", "approve", "actions"]);
});

test("it unpacks batches, skips what is no frame, and asks to go on behind the last event", async () => {
  const { url, visits } = await serve(({ socket }, round) => {
    if (round > 1) return void socket.send(JSON.stringify({ type: "status", status: "idle" }));
    for (const odd of ["no json", "null", "5"]) socket.send(odd);
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
  const { frames, states } = openTalk({ url, only: "events", after: 3, token: "t0ken" });
  await waitUntil("the second connection", () => frames.length === 4);
  expect(frames.map(({ type }) => type)).toEqual(["run.tick", "text_delta", "run.tick", "status"]);
  expect(visits.map(({ request }) => new URL(request.url ?? "", "http://x").search)).toEqual([
    "?batch=1&only=events&after=3",
    "?batch=1&only=events&after=9",
  ]);
  expect(visits[0]?.request.headers.authorization).toBe("Bearer t0ken");
  expect(states.slice(0, 3)).toEqual(["open", "lost", "open"]);
});

test("cut off before its first event, it goes on from where it was greeted", async () => {
  const { url, visits } = await serve(({ socket }, round) => {
    const greeting = JSON.stringify({ type: "sync", state: {}, last: 41 });
    socket.send(greeting, () => round === 1 && socket.terminate());
  });
  openTalk({ url });
  await waitUntil("the second connection", () => visits.length === 2);
  expect(visits.map(({ request }) => new URL(request.url ?? "", "http://x").searchParams.get("after"))).toEqual([
    null,
    "41",
  ]);
});

test("it says what it has read, every quarter of a megabyte", async () => {
  const frame = JSON.stringify({ type: "text_delta", delta: "x".repeat(100_000), messageId: "m" });
  const { url, visits } = await serve(({ socket }) => {
    for (let sent = 0; sent < 7; sent++) socket.send(frame);
  });
  const { frames } = openTalk({ url });
  await waitUntil("all frames", () => frames.length === 7);
  await waitUntil("the acks", () => visits[0]?.told.length === 2);
  expect(visits[0]?.told).toEqual([{ type: "ack" }, { type: "ack" }]);
});

test("who is told no does not ask again", async () => {
  const closing = await serve(({ socket }) => socket.close(4403, "not yours"));
  const first = openTalk({ url: closing.url });
  await waitUntil("the refusal", () => first.states.includes("refused"));
  expect(first.states).toEqual(["open", "refused"]);

  const refusing = await serve(undefined, 404);
  const second = openTalk({ url: refusing.url });
  await waitUntil("the refusal", () => second.states.includes("refused"));
  expect(second.states).toEqual(["refused"]);
});

test("a host that is not ready is asked again, and closed means closed", async () => {
  const { url, visits } = await serve(undefined, 503);
  const { states, close } = openTalk({ url });
  await waitUntil("two tries", () => states.length === 2);
  expect(states).toEqual(["lost", "lost"]);
  expect(visits).toEqual([]);
  close();
});
