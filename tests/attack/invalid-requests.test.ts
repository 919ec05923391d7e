import http from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { send } from "../kit/wire.ts";
import { findLeak } from "./find-leak.ts";

// Specific invalid bodies and frames. See malformed.test.ts for random ones.

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess();
  for (const name of ["bob", "carol"])
    await host.client.call("createAgent", { params: { agency: "global" }, body: { name } });
});

afterAll(() => host?.stop());

const post = (path: string, body: unknown) =>
  send({
    port: host.port,
    method: "POST",
    path,
    headers: { authorization: `Bearer ${host.token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const hello = { role: "user", content: "hello" };
const picture = { mediaType: "image/png", data: "AAAA" };

test.each<[string, unknown, (string | number)[]]>([
  ["an empty body", {}, ["message"]],
  ["message and messages", { message: "a", messages: [hello] }, ["message"]],
  ["an empty message", { message: "" }, ["message"]],
  ["a number as message", { message: 5 }, ["message"]],
  ["no messages", { messages: [] }, ["messages"]],
  ["an assistant message as the last", { messages: [hello, { role: "assistant", content: "hi" }] }, ["messages"]],
  ["a system message", { messages: [{ role: "system", content: "obey" }] }, ["messages", 0, "role"]],
  ["201 messages", { messages: Array.from({ length: 201 }, () => hello) }, ["messages"]],
  ["an unknown mode", { message: "a", mode: "shout" }, ["mode"]],
  ["an empty idempotency key", { message: "a", idempotencyKey: "" }, ["idempotencyKey"]],
  ["a long idempotency key", { message: "a", idempotencyKey: "k".repeat(201) }, ["idempotencyKey"]],
  ["data that is not base64", { message: "a", attachments: [{ ...picture, data: "???" }] }, ["attachments", 0, "data"]],
  [
    "a media type with a line break",
    { message: "a", attachments: [{ ...picture, mediaType: "image/png\r\nx: y" }] },
    ["attachments", 0, "mediaType"],
  ],
  ["21 attachments", { message: "a", attachments: Array.from({ length: 21 }, () => picture) }, ["attachments"]],
  ["a file that is not text", { message: "a", files: { "a.txt": 1 } }, ["files", "a.txt"]],
  ["an unknown field", { message: "a", user: "somebody" }, ["user"]],
  ["a message of 5 MB", { message: "x".repeat(5_000_000) }, ["message"]],
])("invoke rejects %s and says where", async (_, body, path) => {
  const response = await post("/agents/carol/invoke", body);
  expect(response.status).toBe(400);
  expect(JSON.parse(response.body).error.details.issues[0].path).toEqual(path);
});

test.each<[string, unknown, number]>([
  ["no agent", { message: "a" }, 400],
  ["an agent and agents", { agent: "carol", agents: { bob: {} }, message: "a" }, 400],
  ["no message", { agent: "carol" }, 400],
  ["an agency instead of an agent", { agent: "@global", message: "a" }, 400],
  ["a channel", { agent: "#general", message: "a" }, 400],
  ["a path", { agent: "../carol", message: "a" }, 400],
  ["a reserved name", { agent: "think", message: "a" }, 400],
  ["an unknown agent", { agent: "zzzzzzzz", message: "a" }, 404],
  ["an unknown agency", { agent: "carol@zzzzzzzz", message: "a" }, 404],
  ["an unknown workflow", { workflow: "review", message: "a" }, 404],
  ["no agents", { agents: {}, message: "a" }, 400],
  [
    "too many agents",
    { agents: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`a${n}`, {}])), message: "a" },
    400,
  ],
  ["an agent with a bad name", { agents: { "a/b": {} }, message: "a" }, 400],
  ["an agent with a bad model", { agents: { bob: { model: "gpt" } }, message: "a" }, 400],
  ["an agent with an unknown provider", { agents: { bob: { model: "zzz:model" } }, message: "a" }, 400],
  ["an agent with an unknown driver", { agents: { bob: { backend: "telepathy" } }, message: "a" }, 400],
  ["a tag that is a path", { agents: { bob: {} }, tag: "../x", message: "a" }, 400],
  ["a tag with a colon", { agents: { bob: {} }, tag: "a:b", message: "a" }, 400],
  ["a workflow with a bad name", { workflow: { name: "a b", agents: { bob: {} } }, message: "a" }, 400],
  ["a message of 5 MB", { agent: "carol", message: "x".repeat(5_000_000) }, 413],
])("/run and /serve reject %s and create nothing", async (_, body, status) => {
  const countAgencies = async () => (await host.client.call("listAgencies", { query: { limit: 500 } })).agencies.length;
  const before = await countAgencies();
  for (const path of ["/run", "/serve"]) {
    const response = await post(path, body);
    expect([path, response.status]).toEqual([path, status]);
    expect(JSON.parse(response.body).error.message).toMatch(/\w+ \w+/);
  }
  expect(await countAgencies()).toBe(before);
});

test.each(["/agents/carol/ws", "/agents/think/global~carol"])(
  "an invalid frame at %s gets an error, and the socket stays open",
  async (path) => {
    const socket = new WebSocket(`ws://127.0.0.1:${host.port}${path}`, {
      headers: { authorization: `Bearer ${host.token}` },
    });
    const frames: any[] = [];
    let closed = false;
    socket.on("close", () => (closed = true));
    socket.on("message", (data) => frames.push(JSON.parse(String(data))));
    await waitUntil("the history", () => frames.some(({ type }) => type === "history"));
    const chat = { type: "chat", id: "m", content: "hello" };
    const invalidFrames = [
      "hello",
      "",
      "{",
      "null",
      "5",
      "[]",
      "{}",
      '{"type":5}',
      '{"type":"shout"}',
      '{"type":"chat"}',
      '{"type":"__proto__"}',
      JSON.stringify({ ...chat, content: 5 }),
      JSON.stringify({ ...chat, content: "" }),
      JSON.stringify({ ...chat, id: "" }),
      JSON.stringify({ ...chat, id: "x".repeat(201) }),
      JSON.stringify({ ...chat, mode: "shout" }),
      JSON.stringify({ ...chat, attachments: [{}] }),
      JSON.stringify({ ...chat, extra: 1 }),
      JSON.stringify({ ...chat, content: "x".repeat(1_000_001) }),
      JSON.stringify({ type: "cancel", runId: 5 }),
      JSON.stringify({ type: "approve" }),
      JSON.stringify({ type: "approve", approved: true, modifiedToolCalls: [{}] }),
      JSON.stringify({ type: "actions" }),
      `${"[".repeat(5000)}${"]".repeat(5000)}`,
      Buffer.from([0, 255, 1, 254]),
      Buffer.from('{"type":"chat"}'),
      "\u0000",
    ];
    for (const frame of invalidFrames) {
      const before = frames.length;
      socket.send(frame);
      const reply = await waitUntil(`a reply to ${String(frame).slice(0, 60)}`, () =>
        frames.slice(before).find(({ type }) => type === "error"),
      );
      expect(reply.error).toMatch(/\w+ \w+/);
      expect(findLeak(reply.error, host)).toBeUndefined();
      // The error names the message it belongs to.
      expect([frame, reply.id]).toEqual([frame, String(frame).includes('"id":"m"') ? "m" : undefined]);
    }
    expect(closed).toBe(false);
    socket.close();
    const { messages } = await host.client.call("listMessages", { params: { agency: "global", agent: "carol" } });
    expect(messages.filter(({ id }) => id === "m")).toEqual([]);
    expect((await host.client.call("health")).restarts).toBe(0);
  },
);

test("a body announced as a gigabyte is rejected before any of it is sent", async () => {
  const request = http.request({
    host: "127.0.0.1",
    port: host.port,
    method: "POST",
    path: "/agents/carol/invoke",
    headers: {
      authorization: `Bearer ${host.token}`,
      "content-type": "application/json",
      "content-length": 1_000_000_000,
    },
  });
  const status = new Promise<number>((resolve, reject) => {
    request.on("response", (response) => resolve(response.statusCode ?? 0));
    request.on("error", reject);
  });
  request.flushHeaders();
  expect(await status).toBe(413);
  request.on("error", () => {});
  request.destroy();
});
