import { AgentClient } from "agents/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

// The client published by the Agents SDK, used as its users would.

let host: HostProcess;

beforeAll(async () => {
  host = await startHostProcess();
  await host.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
});

afterAll(() => host?.stop());

function connect(name: string, token: string | undefined, options: object = {}) {
  class WithToken extends WebSocket {
    constructor(url: string, protocols?: string | string[]) {
      super(url, protocols, token ? { headers: { authorization: `Bearer ${token}` } } : {});
    }
  }
  return new AgentClient({
    agent: "think",
    name,
    host: `127.0.0.1:${host.port}`,
    protocol: "ws",
    WebSocket: WithToken,
    maxRetries: 0,
    ...options,
  } as ConstructorParameters<typeof AgentClient>[0]);
}

test("the client connects with a token and receives identity and state", async () => {
  const states: unknown[] = [];
  const client = connect("global~alice", host.token, { onStateUpdate: (state: unknown) => states.push(state) });
  await client.ready;
  expect(client.agent).toBe("think");
  expect(client.name).toBe("global~alice");
  await waitUntil("the state", () => states.length > 0);
  expect(states[0]).toMatchObject({ status: "idle", queued: 0 });
  client.close();
});

test("the client chats with the agent, and the state follows the turn", async () => {
  const states: { status: string; title?: string; run: { status: string } }[] = [];
  const client = connect("global~alice", host.token, { onStateUpdate: (state: never) => states.push(state) });
  const frames: { type: string; delta?: string; message?: { role: string; content: string } }[] = [];
  client.addEventListener("message", (message) => frames.push(JSON.parse(String(message.data))));
  await client.ready;
  client.send(JSON.stringify({ type: "chat", id: "first-words", content: "plan" }));
  await waitUntil("the turn to end", () => frames.some(({ type }) => type === "task-complete"));

  const last = frames.findLast(({ type }) => type === "chat")?.message;
  expect(last).toMatchObject({ role: "assistant", content: expect.stringContaining("tool call") });
  const types = new Set(frames.map(({ type }) => type));
  for (const type of [
    "sync",
    "history",
    "task-queued",
    "text_delta",
    "tool_call",
    "tool_result",
    "message-complete",
    "agent.completed",
  ]) {
    expect(types).toContain(type);
  }
  await waitUntil("the state", () => states.at(-1)?.status === "idle" && states.at(-1)?.run.status === "completed");
  expect(states.map(({ status }) => status)).toContain("thinking");
  client.close();
});

test("a connection without a token is rejected", async () => {
  const client = connect("global~alice", undefined);
  const error = await new Promise((resolve) => client.addEventListener("error", resolve));
  expect(error).toBeDefined();
  expect(client.identified).toBe(false);
  client.close();
});

test("the client cannot write state", async () => {
  const errors: unknown[] = [];
  const client = connect("global~alice", host.token, { onStateUpdateError: (error: unknown) => errors.push(error) });
  await client.ready;
  client.setState({ status: "hacked" });
  await waitUntil("the error", () => errors.length > 0);
  client.close();

  const states: unknown[] = [];
  const second = connect("global~alice", host.token, { onStateUpdate: (state: unknown) => states.push(state) });
  await second.ready;
  await waitUntil("the state", () => states.length > 0);
  expect(states[0]).toMatchObject({ status: "idle", queued: 0 });
  second.close();
});

test("the client cannot call methods of the Durable Object", async () => {
  const client = connect("global~alice", host.token);
  await client.ready;
  await expect(client.call("erase", [])).rejects.toThrow();
  await expect(client.call("destroy", [])).rejects.toThrow();
  client.close();
  const agent = await host.client.call("getAgent", { params: { agency: "global", agent: "alice" } });
  expect(agent.name).toBe("alice");
});

test("an unregistered child can be neither reached nor created", async () => {
  const code = await waitForClose("/agents/think/global~alice/sub/think/child", host.token);
  expect(code).toBe(4404);
});

test("connecting to another user's object closes the socket with 4403", async () => {
  const { token } = await host.client.call("createToken", { body: { name: "t", user: "mallory", scopes: ["admin"] } });
  for (const path of [
    "/agents/think/global~alice",
    "/agents/agency/global",
    "/agents/user/owner",
    "/agents/think/global~nobody",
  ]) {
    expect([path, await waitForClose(path, token)]).toEqual([path, 4403]);
  }
});

test("a frame over the size limit closes the socket with 1009, and the host keeps running", async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${host.port}/agents/think/global~alice`, {
    headers: { authorization: `Bearer ${host.token}` },
  });
  const code = await new Promise<number>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", resolve);
    socket.on("open", () => socket.send("x".repeat(1024 * 1024 + 1)));
  });
  expect(code).toBe(1009);
  expect((await host.client.call("health")).restarts).toBe(0);
});

test("props set by the client never reach the object", async () => {
  const response = await fetch(`${host.url}/agents/think/global~alice`, {
    headers: { authorization: `Bearer ${host.token}`, "x-agents-lifecycle-props": "not base64 at all" },
  });
  // If the header were passed on, decoding it would fail inside the object.
  expect(response.status).toBe(404);
});

function waitForClose(path: string, token: string): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${host.port}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", (code) => resolve(code));
  });
}
