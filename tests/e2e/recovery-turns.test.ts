import { afterAll, beforeAll, expect, test } from "vitest";
import { findMain } from "../kit/processes.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { turnEndTypes, openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// What becomes of turns when the host dies or stops under them.

const ring = (tool: string, id: string) => ({ call: { tool, input: { bell: "BELL", id } } });

let workshop: Testbed;

beforeAll(async () => {
  workshop = await openTestbed({
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

afterAll(() => workshop?.stop());

const createPlayer = () => workshop.newAgent({ model: "scripted:player" });
const findRings = (id: string) => workshop.bell.rings.filter((ring) => ring.id === id);
const listOutcomes = async (agent: TestAgent) => (await agent.log()).filter(({ type }) => turnEndTypes.includes(type));

async function expectUsable(agent: TestAgent): Promise<void> {
  expect(await agent.say("still there?")).toMatchObject({
    type: "agent.completed",
    data: { result: "You said: still there?" },
  });
}

const waitForResume = (agent: TestAgent, attempt: number) =>
  agent.seen(`attempt ${attempt}`, (event) => event.type === "run.resumed" && event.data.attempt === attempt);

test("a turn under which the host dies twice at the same point fails, and says so", async () => {
  const agent = await createPlayer();
  const { runId } = await agent.invoke({ message: "silence" });
  await agent.seen("the model's call", ({ type }) => type === "model.started");
  await workshop.killMain();
  expect((await waitForResume(agent, 1)).data).toMatchObject({ crashes: 1 });
  await waitUntil(
    "the model's second call",
    async () => (await agent.log()).filter(({ type }) => type === "model.started").length === 2,
  );
  await workshop.killMain();
  expect(await agent.over(runId)).toMatchObject({
    type: "agent.error",
    data: { code: "crashed", advice: expect.any(String) },
  });
  expect(await agent.run()).toMatchObject({ runId, status: "error" });
  expect(await listOutcomes(agent)).toHaveLength(1);
  await expectUsable(agent);
});

test("a turn that gets somewhere between two crashes is not held to account for them", async () => {
  const agent = await createPlayer();
  let kills = 0;
  workshop.bell.onRing = async ({ id }) => {
    if (findRings(id).length === 1) {
      kills++;
      await workshop.killMain();
    }
  };
  const { runId } = await agent.invoke({ message: "two rings" });
  expect(await agent.over(runId)).toMatchObject({ type: "agent.completed", data: { result: "Rang twice." } });
  workshop.bell.onRing = () => {};
  expect([kills, findRings("first").length, findRings("second").length]).toEqual([2, 2, 2]);
  expect(
    (await agent.log())
      .filter(({ type }) => type === "run.resumed")
      .map(({ data }) => (data as { crashes: number }).crashes),
  ).toEqual([1, 1]);
});

test("stops of the host are no crashes, but a turn that gets nowhere is not taken up for ever", async () => {
  const agent = await createPlayer();
  const { runId } = await agent.invoke({ message: "silence" });
  await agent.seen("the model's call", ({ type }) => type === "model.started");
  for (let attempt = 1; attempt <= 3; attempt++) {
    await workshop.stopHouse();
    await workshop.startHouse();
    expect((await waitForResume(agent, attempt)).data).toMatchObject({ crashes: 0 });
    expect(await agent.run()).toMatchObject({ runId, status: "running" });
  }
  await workshop.stopHouse();
  await workshop.startHouse();
  expect(await agent.over(runId)).toMatchObject({
    type: "agent.error",
    data: { code: "no_progress", advice: expect.any(String) },
  });
  await expectUsable(agent);
});

test("an effect whose outcome a crash took away is not repeated, and the model is told", async () => {
  const agent = await createPlayer();
  workshop.bell.onRing = () => workshop.killMain();
  const { runId } = await agent.invoke({ message: "once" });
  const outcome = await agent.over(runId);
  workshop.bell.onRing = () => {};
  expect(findRings("once")).toHaveLength(1);
  expect(outcome).toMatchObject({ type: "agent.completed", data: { result: expect.stringContaining("unknown") } });
  const result = (await agent.messages()).find(({ role }) => role === "tool");
  expect(result).toMatchObject({ content: expect.stringContaining("unknown"), toolResult: { failed: true } });
});

test("an effect that may be repeated is, and has its result", async () => {
  const agent = await createPlayer();
  workshop.bell.onRing = async () => {
    if (findRings("again").length === 1) await workshop.killMain();
  };
  const { runId } = await agent.invoke({ message: "again" });
  expect(await agent.over(runId)).toMatchObject({
    type: "agent.completed",
    data: { result: "The bell said: rang again" },
  });
  workshop.bell.onRing = () => {};
  expect(findRings("again")).toHaveLength(2);
  expect(new Set(findRings("again").map(({ callId }) => callId)).size).toBe(1);
});

test("a stop waits for an effect that is under way, and leaves the next one for the next start", async () => {
  const agent = await createPlayer();
  let letGo = () => {};
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  workshop.bell.onRing = () => gone;
  const { runId } = await agent.invoke({ message: "one by one" });
  await waitUntil("the bell", () => findRings("held").length === 1);
  const stopped = workshop.stopHouse();
  await waitUntil("the drain", async () => (await workshop.api(agent.at)).status === 503);
  letGo();
  await stopped;
  expect(findRings("next")).toEqual([]);
  await workshop.startHouse();
  expect(await agent.over(runId)).toMatchObject({ type: "agent.completed", data: { result: "rang held, rang next" } });
  expect([findRings("held").length, findRings("next").length]).toEqual([1, 1]);
});

// In these nobody asks an agent anything until its bell rings: whoever asks would wake it.
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
      await workshop.stopHouse();
      await workshop.startHouse();
    },
  ],
];

// The script itself waits three seconds; in two the alarm has come and gone more than once.
const waitForHeartbeats = () => new Promise((resolve) => setTimeout(resolve, 2_200));

test.each(interruptions)("a turn that was interrupted %s goes on with nobody connected", async (_, interrupt) => {
  const agents = await Promise.all(Array.from({ length: 4 }, createPlayer));
  const before = findRings("later").length;
  const { pid } = await waitUntil("main to live", () => findMain(workshop.home));
  const runs = await Promise.all(agents.map((agent) => agent.invoke({ message: "later" })));
  await interrupt(pid);
  await waitUntil("every bell", () => findRings("later").length === before + agents.length);
  for (const [index, agent] of agents.entries()) {
    expect(await agent.over(runs[index]?.runId ?? "")).toMatchObject({
      type: "agent.completed",
      data: { result: "Done." },
    });
    expect(await listOutcomes(agent)).toHaveLength(1);
  }
});

test("a message sent again after a crash is the same message", async () => {
  const agent = await createPlayer();
  const message = { message: "hello", idempotencyKey: "one" };
  const first = await agent.invoke(message);
  await agent.over(first.runId);
  await workshop.killMain();
  const second = await waitUntil("an answer", () => agent.invoke(message));
  expect(second).toMatchObject({
    runId: first.runId,
    messageId: first.messageId,
    duplicate: true,
    status: "completed",
  });
  expect(await agent.messages()).toHaveLength(2);
});
