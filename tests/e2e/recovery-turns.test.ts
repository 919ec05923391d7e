import { afterAll, beforeAll, expect, test } from "vitest";
import { findMain } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { turnEndTypes, openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Running turns when the host crashes or stops.

const ring = (tool: string, id: string) => ({ call: { tool, input: { bell: "BELL", id } } });

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    config: { maxFailuresPerMinute: 1000, turn: { heartbeatSeconds: 1 } },
    scripts: {
      player: [
        { when: "silence", steps: [{ wait: 600_000 }, { text: "Never." }] },
        { when: "once", steps: [ring("ring", "once"), { text: "The bell said: {{ results.ring }}" }] },
        { when: "again", steps: [ring("ring_again", "again"), { text: "The bell said: {{ results.ring_again }}" }] },
        {
          when: "two rings",
          steps: [ring("ring_again", "first"), ring("ring_again", "second"), { text: "Rang twice." }],
        },
        {
          when: "one by one",
          steps: [ring("ring", "held"), ring("ring", "next"), { text: "{{ results.0 }}, {{ results.1 }}" }],
        },
        { when: "later", steps: [{ text: "Wait. " }, { wait: 3_000 }, ring("ring_again", "later"), { text: "Done." }] },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

const createPlayer = () => testbed.newAgent({ model: "scripted:player" });
const findRings = (id: string) => testbed.bell.rings.filter((ring) => ring.id === id);
const listOutcomes = async (agent: TestAgent) => (await agent.log()).filter(({ type }) => turnEndTypes.includes(type));

async function expectUsable(agent: TestAgent): Promise<void> {
  expect(await agent.say("still there?")).toMatchObject({
    type: "agent.completed",
    data: { result: "You said: still there?" },
  });
}

const waitForResume = (agent: TestAgent, attempt: number) =>
  agent.waitForEvent(`attempt ${attempt}`, (event) => event.type === "run.resumed" && event.data.attempt === attempt);

test("a turn that crashes the host twice at the same point fails with the reason", async () => {
  const agent = await createPlayer();
  const { runId } = await agent.invoke({ message: "silence" });
  await agent.waitForEvent("the model's call", ({ type }) => type === "model.started");
  await testbed.killMain();
  expect((await waitForResume(agent, 1)).data).toMatchObject({ crashes: 1 });
  await waitUntil(
    "the model's second call",
    async () => (await agent.log()).filter(({ type }) => type === "model.started").length === 2,
  );
  await testbed.killMain();
  expect(await agent.waitForEnd(runId)).toMatchObject({
    type: "agent.error",
    data: { code: "crashed", advice: expect.any(String) },
  });
  expect(await agent.run()).toMatchObject({ runId, status: "error" });
  expect(await listOutcomes(agent)).toHaveLength(1);
  await expectUsable(agent);
});

test("a turn that makes progress between two crashes does not fail", async () => {
  const agent = await createPlayer();
  let kills = 0;
  testbed.bell.onRing = async ({ id }) => {
    if (findRings(id).length === 1) {
      kills++;
      await testbed.killMain();
    }
  };
  const { runId } = await agent.invoke({ message: "two rings" });
  expect(await agent.waitForEnd(runId)).toMatchObject({ type: "agent.completed", data: { result: "Rang twice." } });
  testbed.bell.onRing = () => {};
  expect([kills, findRings("first").length, findRings("second").length]).toEqual([2, 2, 2]);
  expect(
    (await agent.log())
      .filter(({ type }) => type === "run.resumed")
      .map(({ data }) => (data as { crashes: number }).crashes),
  ).toEqual([1, 1]);
});

test("host stops do not count as crashes, but a turn without progress is not resumed forever", async () => {
  const agent = await createPlayer();
  const { runId } = await agent.invoke({ message: "silence" });
  await agent.waitForEvent("the model's call", ({ type }) => type === "model.started");
  for (let attempt = 1; attempt <= 3; attempt++) {
    await testbed.stopHost();
    await testbed.startHost();
    expect((await waitForResume(agent, attempt)).data).toMatchObject({ crashes: 0 });
    expect(await agent.run()).toMatchObject({ runId, status: "running" });
  }
  await testbed.stopHost();
  await testbed.startHost();
  expect(await agent.waitForEnd(runId)).toMatchObject({
    type: "agent.error",
    data: { code: "no_progress", advice: expect.any(String) },
  });
  await expectUsable(agent);
});

test("a non-idempotent call that a crash interrupted is not repeated, and the model learns that its outcome is unknown", async () => {
  const agent = await createPlayer();
  testbed.bell.onRing = () => testbed.killMain();
  const { runId } = await agent.invoke({ message: "once" });
  const outcome = await agent.waitForEnd(runId);
  testbed.bell.onRing = () => {};
  expect(findRings("once")).toHaveLength(1);
  expect(outcome).toMatchObject({ type: "agent.completed", data: { result: expect.stringContaining("unknown") } });
  const result = (await agent.messages()).find(({ role }) => role === "tool");
  expect(result).toMatchObject({ content: expect.stringContaining("unknown"), toolResult: { failed: true } });
});

test("an idempotent call that a crash interrupted is repeated and gets its result", async () => {
  const agent = await createPlayer();
  testbed.bell.onRing = async () => {
    if (findRings("again").length === 1) await testbed.killMain();
  };
  const { runId } = await agent.invoke({ message: "again" });
  expect(await agent.waitForEnd(runId)).toMatchObject({
    type: "agent.completed",
    data: { result: "The bell said: rang again" },
  });
  testbed.bell.onRing = () => {};
  expect(findRings("again")).toHaveLength(2);
  expect(new Set(findRings("again").map(({ callId }) => callId)).size).toBe(1);
});

test("a stop waits for the running call and leaves the next one for the next start", async () => {
  const agent = await createPlayer();
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  testbed.bell.onRing = () => released;
  const { runId } = await agent.invoke({ message: "one by one" });
  await waitUntil("the bell", () => findRings("held").length === 1);
  const stopped = testbed.stopHost();
  await waitUntil("the drain", async () => (await testbed.api(agent.at)).status === 503);
  release();
  await stopped;
  expect(findRings("next")).toEqual([]);
  await testbed.startHost();
  expect(await agent.waitForEnd(runId)).toMatchObject({
    type: "agent.completed",
    data: { result: "rang held, rang next" },
  });
  expect([findRings("held").length, findRings("next").length]).toEqual([1, 1]);
});

// No requests to the agents until their bells ring: a request would wake them.
const interruptions: [string, (pid: number) => Promise<void>][] = [
  ["right after its admission", async (pid) => void process.kill(pid, "SIGKILL")],
  [
    "after a few heartbeats",
    async (pid) => {
      await waitForHeartbeats();
      process.kill(pid, "SIGKILL");
    },
  ],
  [
    "by a stop of the host",
    async () => {
      await waitForHeartbeats();
      await testbed.stopHost();
      await testbed.startHost();
    },
  ],
];

// The script waits three seconds; after two the alarm has fired more than once.
const waitForHeartbeats = () => new Promise((resolve) => setTimeout(resolve, 2_200));

test.each(interruptions)("a turn that was interrupted %s continues without a client", async (_, interrupt) => {
  const agents = await Promise.all(Array.from({ length: 4 }, createPlayer));
  const before = findRings("later").length;
  const { pid } = await waitUntil("main", () => findMain(testbed.home));
  const runs = await Promise.all(agents.map((agent) => agent.invoke({ message: "later" })));
  await interrupt(pid);
  await waitUntil("every bell", () => findRings("later").length === before + agents.length);
  for (const [index, agent] of agents.entries()) {
    expect(await agent.waitForEnd(runs[index]?.runId ?? "")).toMatchObject({
      type: "agent.completed",
      data: { result: "Done." },
    });
    expect(await listOutcomes(agent)).toHaveLength(1);
  }
});

test("a message that is resent after a crash is deduplicated", async () => {
  const agent = await createPlayer();
  const message = { message: "hello", idempotencyKey: "one" };
  const first = await agent.invoke(message);
  await agent.waitForEnd(first.runId);
  await testbed.killMain();
  const second = await waitUntil("the admission", () => agent.invoke(message));
  expect(second).toMatchObject({
    runId: first.runId,
    messageId: first.messageId,
    duplicate: true,
    status: "completed",
  });
  expect(await agent.messages()).toHaveLength(2);
});
