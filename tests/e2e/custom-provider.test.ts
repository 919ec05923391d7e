import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// A custom Worker can also bring a model provider, a default model and a secret.

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({ worker: new URL("../kit/worker/provider.worker.ts", import.meta.url) });
});

afterAll(() => testbed?.stop());

test("custom models are counted and priced like any other, and can be the default", async () => {
  const agent = await testbed.newAgent();
  expect(await agent.say("hello")).toMatchObject({ type: "agent.completed", data: { result: "HELLO" } });
  const { body } = await testbed.api(`${agent.at}/usage`);
  expect(body.byModel).toMatchObject([
    { model: "parrot:loud", calls: 1, inputTokens: 10, outputTokens: 5, costUsd: 0.1 },
  ]);
});

test("an agent can choose a custom model, and an unknown one fails the turn with the provider's error", async () => {
  const quiet = await testbed.newAgent({ model: "parrot:quiet" });
  expect(await quiet.say("Hello")).toMatchObject({ data: { result: "Hello" } });
  const unknown = await testbed.newAgent({ model: "parrot:blue" });
  expect(await unknown.say("Hello")).toMatchObject({
    type: "agent.error",
    data: { error: "No parrot is called blue.", advice: "Take loud or quiet." },
  });
});

test("the host's own providers stay available", async () => {
  const agent = await testbed.newAgent({ model: "scripted:tour" });
  expect((await agent.say("hello")).type).toBe("agent.completed");
});

test("the handler's secret authenticates the owner, and near misses do not", async () => {
  const secret = "a-secret-of-the-workers-own-that-nobody-guesses";
  const request = (token: string) =>
    fetch(`${testbed.host().url}/who`, { headers: { authorization: `Bearer ${token}` } });
  const response = await request(secret);
  expect([response.status, ((await response.json()) as { user: string }).user]).toEqual([200, "owner"]);
  expect((await request(`${secret}x`)).status).toBe(401);
  expect((await request(secret.slice(0, -1))).status).toBe(401);
});
