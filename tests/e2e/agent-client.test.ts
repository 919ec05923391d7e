import { AgentClient } from "agents/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type House, openHouse } from "../kit/house.ts";
import { until } from "../kit/until.ts";

// The client that the Agents SDK publishes, as its users would use it.

let house: House;

beforeAll(async () => {
  house = await openHouse();
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
  await until("the state", () => states.length > 0);
  expect(states[0]).toEqual({ status: "idle" });
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
  await until("the refusal", () => errors.length > 0);
  client.close();

  const states: unknown[] = [];
  const second = connect("global~alice", house.token, { onStateUpdate: (state: unknown) => states.push(state) });
  await second.ready;
  await until("the state", () => states.length > 0);
  expect(states[0]).toEqual({ status: "idle" });
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
  const close = await closeOf("/agents/think/global~alice/sub/think/child", house.token);
  expect(close).toBe(4404);
});

test("somebody else's agent closes the socket with 4403", async () => {
  const { token } = await house.client.call("createToken", { body: { name: "t", user: "mallory", scopes: ["admin"] } });
  for (const path of ["/agents/think/global~alice", "/agents/agency/global", "/agents/user/owner", "/agents/think/global~nobody"]) {
    expect([path, await closeOf(path, token)]).toEqual([path, 4403]);
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

function closeOf(path: string, token: string): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${house.port}${path}`, { headers: { authorization: `Bearer ${token}` } });
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", (code) => resolve(code));
  });
}
