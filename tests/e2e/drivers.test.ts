import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { turnEndTypes, openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// A custom driver, selected by agent or blueprint: turns, calls, crashes and budgets work as with the built-in loop.

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    worker: new URL("../kit/worker/drivers.worker.ts", import.meta.url),
    config: { maxFailuresPerMinute: 1000, turn: { heartbeatSeconds: 1 } },
    scripts: { default: [{ steps: [{ text: "The loop says: {{ message }}" }] }] },
  });
});

afterAll(() => testbed?.stop());

const createEchoAgent = () => testbed.newAgent({ blueprint: "echoing" });
const findRings = (id: string) => testbed.bell.rings.filter((ring) => ring.id === id);
const listOutcomes = async (agent: TestAgent) => (await agent.log()).filter(({ type }) => turnEndTypes.includes(type));
const create = (body: object) => testbed.api("/agents", "POST", body);

async function say(agent: TestAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect(type).toBe("agent.completed");
  return (data as { result: string }).result;
}

test("a blueprint selects the driver, and its turns are logged like any other", async () => {
  const agent = await createEchoAgent();
  expect(await say(agent, "hello")).toBe("Echo: hello");
  expect(await say(agent, `ring ${testbed.bell.url} first`)).toBe("Echo: rang first");
  expect(findRings("first")).toHaveLength(1);
  const types = (await agent.log()).map(({ type }) => type);
  for (const type of ["run.started", "model.started", "model.completed", "tool.started", "tool.output"])
    expect(types).toContain(type);
  const messages = await agent.messages();
  expect(messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
    "user: hello",
    "assistant: Echo: hello",
    expect.stringMatching(/^user: ring/),
    "assistant: One moment. ",
    "tool: rang first",
    "assistant: Echo: rang first",
  ]);
});

test("an agent's own driver overrides its blueprint's, and a changed blueprint takes effect", async () => {
  const blueprint = await testbed.newBlueprint({ driver: "echo" });
  const own = await create({ name: "own", blueprint, driver: "think" });
  const inherited = await create({ name: "inherited", blueprint });
  expect([own.body.driver, inherited.body.driver]).toEqual(["think", "echo"]);
  const agent = (name: string) => testbed.agentAt(`/agents/${name}`, name);
  expect([await say(agent("own"), "hi"), await say(agent("inherited"), "hi")]).toEqual([
    "The loop says: hi",
    "Echo: hi",
  ]);

  await testbed.api("/agency/global/blueprints", "POST", { name: blueprint });
  expect(await say(agent("inherited"), "hi")).toBe("The loop says: hi");
  expect((await testbed.api("/agents/inherited")).body.driver).toBe("think");
});

test("`backend` is an alias of `driver`, and an unknown driver is rejected with its path", async () => {
  expect((await create({ name: "by-backend", backend: "echo" })).body.driver).toBe("echo");
  for (const [body, path] of [
    [{ name: "nobody", driver: "ecko" }, ["driver"]],
    [{ name: "nobody", backend: "ecko" }, ["backend"]],
  ] as const) {
    const response = await create(body);
    expect(response.status).toBe(400);
    expect(response.body.error).toMatchObject({ code: "bad_request", details: { issues: [{ path }] } });
    expect(response.body.error.message).toMatch(/Unknown driver “ecko”. Did you mean “echo”\?/);
  }
  expect((await create({ name: "nobody", driver: "echo", backend: "think" })).status).toBe(400);
  expect((await testbed.api("/agency/global/blueprints", "POST", { name: "odd", driver: "telepathy" })).status).toBe(
    400,
  );
});

test("a driver that calls no model needs no API key", async () => {
  const agent = await testbed.newAgent({ blueprint: "echoing", model: "openai:there-is-no-key" });
  expect(await say(agent, "hello")).toBe("Echo: hello");
});

test("the steps of a custom driver count against the budget", async () => {
  const blueprint = await testbed.newBlueprint({ driver: "echo", config: { budget: { steps: 1 } } });
  const agent = await testbed.newAgent({ blueprint });
  expect(await say(agent, "hello")).toBe("Echo: hello");
  expect(await agent.say(`ring ${testbed.bell.url} too-much`)).toMatchObject({
    type: "agent.error",
    data: { code: "budget" },
  });
});

test("a driver killed during a call continues from the log and does not repeat a call that is not idempotent", async () => {
  const agent = await createEchoAgent();
  testbed.bell.onRing = () => new Promise(() => {});
  const { runId } = await agent.invoke({ message: `ring ${testbed.bell.url} killed` });
  await waitUntil("the bell to be rung", () => findRings("killed").length === 1);
  await testbed.killMain();
  testbed.bell.onRing = () => {};
  const outcome = await agent.waitForEnd(runId);
  expect(outcome).toMatchObject({
    type: "agent.completed",
    data: { result: expect.stringMatching(/Whether it took effect is unknown/) },
  });
  expect(findRings("killed")).toHaveLength(1);
  expect(await listOutcomes(agent)).toHaveLength(1);
  expect(await say(agent, "still there?")).toBe("Echo: still there?");
});

test("a driver killed during an idempotent call repeats the call but not its messages", async () => {
  const agent = await createEchoAgent();
  testbed.bell.onRing = () => new Promise(() => {});
  const { runId } = await agent.invoke({ message: `ring_again ${testbed.bell.url} repeated` });
  await waitUntil("the bell to be rung", () => findRings("repeated").length === 1);
  await testbed.killMain();
  testbed.bell.onRing = () => {};
  expect(await agent.waitForEnd(runId)).toMatchObject({
    type: "agent.completed",
    data: { result: "Echo: rang repeated" },
  });
  expect(findRings("repeated").length).toBe(2);
  const texts = (await agent.messages()).filter(({ role }) => role === "assistant").map(({ content }) => content);
  expect(texts).toEqual(["One moment. ", "Echo: rang repeated"]);
});
