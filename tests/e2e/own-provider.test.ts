import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// What a Worker of one's own may bring beside tools and middleware: models, a default, a secret.

let workshop: Testbed;

beforeAll(async () => {
  workshop = await openTestbed({ worker: new URL("../kit/worker/provider.worker.ts", import.meta.url) });
});

afterAll(() => workshop?.stop());

test("models of one's own answer, count and cost like any other, and can be the default", async () => {
  const agent = await workshop.newAgent();
  expect(await agent.say("hello")).toMatchObject({ type: "agent.completed", data: { result: "HELLO" } });
  const { body } = await workshop.api(`${agent.at}/usage`);
  expect(body.byModel).toMatchObject([
    { model: "parrot:loud", calls: 1, inputTokens: 10, outputTokens: 5, costUsd: 0.1 },
  ]);
});

test("an agent may choose among them, and one there is not fails the turn with its own words", async () => {
  const quiet = await workshop.newAgent({ model: "parrot:quiet" });
  expect(await quiet.say("Hello")).toMatchObject({ data: { result: "Hello" } });
  const unknown = await workshop.newAgent({ model: "parrot:blue" });
  expect(await unknown.say("Hello")).toMatchObject({
    type: "agent.error",
    data: { error: "No parrot is called blue.", advice: "Take loud or quiet." },
  });
});

test("models of the host's own providers are still there", async () => {
  const agent = await workshop.newAgent({ model: "scripted:tour" });
  expect((await agent.say("hello")).type).toBe("agent.completed");
});

test("the handler's own secret speaks for the owner, and nothing near it does", async () => {
  const secret = "a-secret-of-the-workers-own-that-nobody-guesses";
  const ask = (token: string) =>
    fetch(`${workshop.house().url}/who`, { headers: { authorization: `Bearer ${token}` } });
  const answer = await ask(secret);
  expect([answer.status, ((await answer.json()) as { user: string }).user]).toEqual([200, "owner"]);
  expect((await ask(`${secret}x`)).status).toBe(401);
  expect((await ask(secret.slice(0, -1))).status).toBe(401);
});
