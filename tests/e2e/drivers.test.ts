import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { turnEndTypes, openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// A driver that is not ours, chosen by agent or blueprint: turns, calls, crashes and budgets work as with our own loop.

let workshop: Testbed;

beforeAll(async () => {
  workshop = await openTestbed({
    worker: new URL("../kit/worker/drivers.worker.ts", import.meta.url),
    config: { maxFailuresPerMinute: 1000, turn: { heartbeatSeconds: 1 } },
    scripts: { default: [{ steps: [{ text: "The loop says: {{ message }}" }] }] },
  });
});

afterAll(() => workshop?.stop());

const createEchoAgent = () => workshop.newAgent({ blueprint: "echoing" });
const findRings = (id: string) => workshop.bell.rings.filter((ring) => ring.id === id);
const listOutcomes = async (agent: TestAgent) => (await agent.log()).filter(({ type }) => turnEndTypes.includes(type));
const create = (body: object) => workshop.api("/agents", "POST", body);

async function say(agent: TestAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect(type).toBe("agent.completed");
  return (data as { result: string }).result;
}

test("a blueprint chooses the driver, and turns go through the log like any other", async () => {
  const agent = await createEchoAgent();
  expect(await say(agent, "hello")).toBe("Echo: hello");
  expect(await say(agent, `ring ${workshop.bell.url} first`)).toBe("Echo: rang first");
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

test("an agent's own driver comes before its blueprint's, which may change", async () => {
  const blueprint = await workshop.newBlueprint({ driver: "echo" });
  const own = await create({ name: "own", blueprint, driver: "think" });
  const inherited = await create({ name: "inherited", blueprint });
  expect([own.body.driver, inherited.body.driver]).toEqual(["think", "echo"]);
  const agent = (name: string) => workshop.agentAt(`/agents/${name}`, name);
  expect([await say(agent("own"), "hi"), await say(agent("inherited"), "hi")]).toEqual([
    "The loop says: hi",
    "Echo: hi",
  ]);

  await workshop.api("/agency/global/blueprints", "POST", { name: blueprint });
  expect(await say(agent("inherited"), "hi")).toBe("The loop says: hi");
  expect((await workshop.api("/agents/inherited")).body.driver).toBe("think");
});

test("`backend` is another word for it, and a driver that does not exist is refused by its path", async () => {
  expect((await create({ name: "by-backend", backend: "echo" })).body.driver).toBe("echo");
  for (const [body, path] of [
    [{ name: "nobody", driver: "ecko" }, ["driver"]],
    [{ name: "nobody", backend: "ecko" }, ["backend"]],
  ] as const) {
    const { status, body: answer } = await create(body);
    expect(status).toBe(400);
    expect(answer.error).toMatchObject({ code: "bad_request", details: { problems: [{ path }] } });
    expect(answer.error.message).toMatch(/There is no driver “ecko”; did you mean “echo”\?/);
  }
  expect((await create({ name: "nobody", driver: "echo", backend: "think" })).status).toBe(400);
  expect((await workshop.api("/agency/global/blueprints", "POST", { name: "odd", driver: "telepathy" })).status).toBe(
    400,
  );
});

test("a driver that uses none of our models needs none", async () => {
  const agent = await workshop.newAgent({ blueprint: "echoing", model: "openai:there-is-no-key" });
  expect(await say(agent, "hello")).toBe("Echo: hello");
});

test("its steps count against the budget", async () => {
  const blueprint = await workshop.newBlueprint({ driver: "echo", config: { budget: { steps: 1 } } });
  const agent = await workshop.newAgent({ blueprint });
  expect(await say(agent, "hello")).toBe("Echo: hello");
  expect(await agent.say(`ring ${workshop.bell.url} too-much`)).toMatchObject({
    type: "agent.error",
    data: { code: "budget" },
  });
});

test("killed while its call runs, it continues from the log: a call that may not be repeated is not", async () => {
  const agent = await createEchoAgent();
  workshop.bell.onRing = () => new Promise(() => {});
  const { runId } = await agent.invoke({ message: `ring ${workshop.bell.url} killed` });
  await waitUntil("the bell to be rung", () => findRings("killed").length === 1);
  await workshop.killMain();
  workshop.bell.onRing = () => {};
  const outcome = await agent.over(runId);
  expect(outcome).toMatchObject({
    type: "agent.completed",
    data: { result: expect.stringMatching(/Whether it took effect is unknown/) },
  });
  expect(findRings("killed")).toHaveLength(1);
  expect(await listOutcomes(agent)).toHaveLength(1);
  expect(await say(agent, "still there?")).toBe("Echo: still there?");
});

test("killed while a repeatable call runs, it makes it again, and says it once", async () => {
  const agent = await createEchoAgent();
  workshop.bell.onRing = () => new Promise(() => {});
  const { runId } = await agent.invoke({ message: `ring_again ${workshop.bell.url} repeated` });
  await waitUntil("the bell to be rung", () => findRings("repeated").length === 1);
  await workshop.killMain();
  workshop.bell.onRing = () => {};
  expect(await agent.over(runId)).toMatchObject({ type: "agent.completed", data: { result: "Echo: rang repeated" } });
  expect(findRings("repeated").length).toBe(2);
  const said = (await agent.messages()).filter(({ role }) => role === "assistant").map(({ content }) => content);
  expect(said).toEqual(["One moment. ", "Echo: rang repeated"]);
});
