import { AgentClient } from "agents/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type HostProcess, startHostProcess } from "../kit/host-process.ts";
import { waitUntil } from "../kit/wait-until.ts";

// The client that the Agents SDK publishes, as its users would use it.

let house: HostProcess;

beforeAll(async () => {
  house = await startHostProcess();
  await house.client.call("createAgent", { params: { agency: "global" }, body: { name: "alice" } });
});

afterAll(() => house?.stop());

function connect(name: string, token: string | undefined, options: object = {}) {
  class WithToken extends WebSocket {
    constructor(url: string, protocols?: string | string[]) {
      super(url, protocols, token ? { headers: { authorization: `Bearer ${token}` } } : {});
    }
  }
  return new AgentClient({
    agent: "think",
    name,
    host: `127.0.0.1:${house.port}`,
    protocol: "ws",
    WebSocket: WithToken,
    maxRetries: 0,
    ...options,
  } as ConstructorParameters<typeof AgentClient>[0]);
}

test("it connects with the token and gets identity and state", async () => {
  const states: unknown[] = [];
  const client = connect("global~alice", house.token, { onStateUpdate: (state: unknown) => states.push(state) });
  await client.ready;
  expect(client.agent).toBe("think");
  expect(client.name).toBe("global~alice");
  await waitUntil("the state", () => states.length > 0);
  expect(states[0]).toMatchObject({ status: "idle", queued: 0 });
  client.close();
});

test("it talks to the agent, and the state follows the turn", async () => {
  const states: { status: string; title?: string; run: { status: string } }[] = [];
  const client = connect("global~alice", house.token, { onStateUpdate: (state: never) => states.push(state) });
  const frames: { type: string; delta?: string; message?: { role: string; content: string } }[] = [];
  client.addEventListener("message", (message) => frames.push(JSON.parse(String(message.data))));
  await client.ready;
  client.send(JSON.stringify({ type: "chat", id: "first-words", content: "plan" }));
  await waitUntil("the turn's end", () => frames.some(({ type }) => type === "task-complete"));

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

test("it is refused without the token", async () => {
  const client = connect("global~alice", undefined);
  const problem = await new Promise((resolve) => client.addEventListener("error", resolve));
  expect(problem).toBeDefined();
  expect(client.identified).toBe(false);
  client.close();
});

test("it may not write state", async () => {
  const errors: unknown[] = [];
  const client = connect("global~alice", house.token, { onStateUpdateError: (error: unknown) => errors.push(error) });
  await client.ready;
  client.setState({ status: "hacked" });
  await waitUntil("the refusal", () => errors.length > 0);
  client.close();

  const states: unknown[] = [];
  const second = connect("global~alice", house.token, { onStateUpdate: (state: unknown) => states.push(state) });
  await second.ready;
  await waitUntil("the state", () => states.length > 0);
  expect(states[0]).toMatchObject({ status: "idle", queued: 0 });
  second.close();
});

test("it cannot call a method of the object", async () => {
  const client = connect("global~alice", house.token);
  await client.ready;
  await expect(client.call("erase", [])).rejects.toThrow();
  await expect(client.call("destroy", [])).rejects.toThrow();
  client.close();
  const agent = await house.client.call("getAgent", { params: { agency: "global", agent: "alice" } });
  expect(agent.name).toBe("alice");
});

test("an unregistered child cannot be reached, nor made", async () => {
  const close = await waitForClose("/agents/think/global~alice/sub/think/child", house.token);
  expect(close).toBe(4404);
});

test("somebody else's agent closes the socket with 4403", async () => {
  const { token } = await house.client.call("createToken", { body: { name: "t", user: "mallory", scopes: ["admin"] } });
  for (const path of [
    "/agents/think/global~alice",
    "/agents/agency/global",
    "/agents/user/owner",
    "/agents/think/global~nobody",
  ]) {
    expect([path, await waitForClose(path, token)]).toEqual([path, 4403]);
  }
});

test("a frame over the cap closes the socket with 1009 and the host lives on", async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${house.port}/agents/think/global~alice`, {
    headers: { authorization: `Bearer ${house.token}` },
  });
  const code = await new Promise<number>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", resolve);
    socket.on("open", () => socket.send("x".repeat(1024 * 1024 + 1)));
  });
  expect(code).toBe(1009);
  expect((await house.client.call("health")).restarts).toBe(0);
});

test("client-set props never reach an object", async () => {
  const response = await fetch(`${house.url}/agents/think/global~alice`, {
    headers: { authorization: `Bearer ${house.token}`, "x-agents-lifecycle-props": "not base64 at all" },
  });
  // Had the header come through, decoding it would have failed inside the object.
  expect(response.status).toBe(404);
});

function waitForClose(path: string, token: string): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${house.port}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", (code) => resolve(code));
  });
}
