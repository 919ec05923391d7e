import type { AgentEvent, Approval, Question } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom, type Random } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { task } from "../kit/worker/team.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// Kills main between a request for approval, its answer and the end of the turn. Each approved call runs once, each
// denied one never, and what was answered stays answered.

const kills = getRepeatCount("approval kills", { sample: 8, full: 100 });

const points = ["asking", "asked", "answering", "answered", "ring", "random"] as const;
type Point = (typeof points)[number];

const ring = (index: number) => ({ tool: "ring", input: { bell: "BELL", id: `{{ message }} ${index}` } });

const result = { text: "{{ results.0 }}" };

const ask = { tool: "askUser", input: { prompt: "Which?" } };
const pick = { tool: "pick", input: { bell: "BELL", id: "{{ message }}" } };

let testbed: Testbed;
let blueprint: string;

beforeAll(async () => {
  testbed = await openTestbed({
    config: {
      maxFailuresPerMinute: 100_000,
      sandboxSlots: 0,
      model: "scripted:default",
      models: { fast: "scripted:default" },
      turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
    },
    scripts: {
      default: [
        {
          when: "/^call/",
          steps: [
            { calls: [ring(0), ring(1), ring(2)] },
            { text: "{{ results.0 }}; {{ results.1 }}; {{ results.2 }}" },
          ],
        },
        {
          when: "/^ask/",
          steps: [{ call: ask }, { call: { tool: "sleepUntil", input: { when: 1 } } }, { text: "{{ results.0 }}" }],
        },
        {
          when: "/^mix/",
          steps: [
            { calls: [ask, pick, ring(0), ring(1)] },
            { text: "{{ results.0 }}; {{ results.1 }}; {{ results.2 }}; {{ results.3 }}" },
          ],
        },
        ...["call", "ask"].flatMap((kind) => [
          { when: `/^below ${kind}/`, steps: [{ call: task(`middle ${kind} {{ message }}`) }, result] },
          { when: `/^middle ${kind}/`, steps: [{ call: task(`${kind} {{ message }}`) }, result] },
        ]),
      ],
    },
  });
  blueprint = await testbed.newBlueprint({ config: { hitl: { tools: ["ring"] } } });
});

afterAll(() => testbed?.stop());

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends an answer until the host has responded to it. Returns whether a response was lost on the way. */
async function post(path: string, body: object): Promise<{ status: number; wasLost: boolean }> {
  let wasLost = false;
  const status = await waitUntil("a response to the answer", async () => {
    try {
      const response = await testbed.api(path, "POST", body);
      // While main restarts, the answer did not arrive.
      if (response.status < 500) return response.status;
    } catch {
      wasLost = true;
    }
    return undefined;
  });
  return { status, wasLost };
}

async function waitForApproval(agent: TestAgent): Promise<Approval> {
  return waitUntil("the approval", async () => {
    const { body } = await testbed.api(`${agent.at}/approvals?status=pending`);
    return (body.approvals as Approval[] | undefined)?.[0];
  });
}

const hasEvent = async (agent: TestAgent, type: AgentEvent["type"]) =>
  (await agent.log().catch(() => [])).some((event) => event.type === type);

async function killAt(point: Point, current: Point[], work?: () => Promise<unknown>): Promise<void> {
  if (current.includes(point)) await Promise.all([work?.(), testbed.killMain()]);
  else await work?.();
}

const killLater = (ms: number) =>
  sleep(ms)
    .then(() => testbed.killMain())
    .catch(() => {});

async function decideUnderKills(number: number, random: Random): Promise<void> {
  const point = points[number % points.length] as Point;
  const agent = await testbed.newAgent({ name: `asker-${number}`, blueprint });
  const message = `call ${number}`;
  const { runId } = await agent.invoke({ message });
  const laterKill = point === "random" ? killLater(random.below(300)) : undefined;
  if (point === "ring") testbed.bell.onRing = () => testbed.killMain();
  await killAt(point, ["asking"]);
  const approval = await waitForApproval(agent);
  await killAt(point, ["asked"]);
  // Some are denied, so that every kill sees both.
  const decisions = approval.calls.map(({ id }) => ({ callId: id, approved: random.chance(0.6) }));
  let answer = { status: 0, wasLost: false };
  await killAt(point, ["answering"], async () => {
    if (point === "answering") await sleep(random.below(20));
    answer = await post(`${agent.at}/approve`, { approvalId: approval.id, decisions, remember: "agent" });
  });
  await killAt(point, ["answered"]);
  const label = `asker-${number}, killed at ${point}`;
  // An answer whose response was lost may have been recorded.
  expect([label, answer.status]).toEqual([label, answer.wasLost ? expect.any(Number) : 200]);
  await laterKill;
  const end = await agent.waitForEnd(runId, 60_000);
  testbed.bell.onRing = () => {};
  expect([label, end.type]).toEqual([label, "agent.completed"]);

  const results = (end.data as { result: string }).result.split("; ");
  for (const [index, { approved }] of decisions.entries()) {
    const rings = testbed.bell.rings.filter(({ id }) => id === `${message} ${index}`).length;
    const result = results[index] ?? "";
    if (!approved) expect([label, index, rings, result]).toEqual([label, index, 0, expect.stringMatching(/denied/)]);
    // It was running when main died: it is not run again, and the model is told that the outcome is unknown.
    else if (/unknown/.test(result)) expect([label, index, rings <= 1]).toEqual([label, index, true]);
    else expect([label, index, rings, result]).toEqual([label, index, 1, `rang ${message} ${index}`]);
  }
  await checkGrants(
    agent,
    label,
    decisions.some(({ approved }) => approved),
  );
  await checkInbox(agent, label);
}

async function answerUnderKills(number: number, random: Random): Promise<void> {
  const point = points[number % points.length] as Point;
  const agent = await testbed.newAgent({ name: `questioner-${number}`, blueprint });
  const { runId } = await agent.invoke({ message: `ask ${number}` });
  const laterKill = point === "random" || point === "ring" ? killLater(random.below(1500)) : undefined;
  await killAt(point, ["asking"]);
  await waitUntil("the question", () => hasEvent(agent, "run.paused"));
  await killAt(point, ["asked"]);
  await killAt(point, ["answering"], () => post(`${agent.at}/answer`, { value: `answer ${number}` }));
  await killAt(point, ["answered"]);
  const label = `questioner-${number}, killed at ${point}`;
  await laterKill;
  const end = await agent.waitForEnd(runId, 60_000);
  expect([label, end.data]).toEqual([label, { runId, result: `answer ${number}` }]);
  const resolved = (await agent.log()).filter(({ type }) => type === "continuation.resolved");
  expect([label, resolved.length]).toEqual([label, 2]);
  await checkInbox(agent, label);
}

/** Everything is answered in any order and at once, so that answers arrive while other calls of the response run. */
async function answerMixUnderKills(number: number, random: Random): Promise<void> {
  const point = points[(number * 5 + 4) % points.length] as Point;
  const label = `mixed-${number}, killed at ${point}`;
  const agent = await testbed.newAgent({ name: `mixed-${number}`, blueprint });
  const { runId } = await agent.invoke({ message: `mix ${number}` });
  const laterKill = point === "random" ? killLater(random.below(1500)) : undefined;
  let killsLeft = point === "ring" ? 1 : 0;
  testbed.bell.onRing = async () => {
    await (killsLeft-- > 0 ? testbed.killMain() : sleep(random.below(100)));
  };
  await killAt(point, ["asking"]);
  const approval = await waitForApproval(agent);
  const questions = await waitUntil(`${label}: the questions`, async () => {
    const { body } = await testbed.api("/questions");
    const own = (body.questions as Question[]).filter((question) => question.agent === `global~${agent.name}`);
    return own.length === 2 && own;
  });
  await killAt(point, ["asked"]);
  const decisions = approval.calls.map(({ id }) => ({ callId: id, approved: random.chance(0.8) }));
  const answers = [
    () => post(`${agent.at}/approve`, { approvalId: approval.id, decisions }),
    ...questions.map(({ id, schema }) => () => {
      return post(`${agent.at}/answer`, { continuationId: id, value: schema ? "red" : "left" });
    }),
  ];
  await killAt(point, ["answering"], async () => {
    await Promise.all(answers.map((send) => sleep(random.below(60)).then(send)));
  });
  await killAt(point, ["answered"]);
  await laterKill;
  const end = await agent.waitForEnd(runId, 60_000);
  testbed.bell.onRing = () => {};
  expect([label, end.type, end.data]).toEqual([label, "agent.completed", expect.anything()]);
  const [asked, picked, ...rung] = (end.data as { result: string }).result.split("; ");
  expect([label, asked]).toEqual([label, "left"]);
  expect([label, picked]).toEqual([label, expect.stringMatching(/^owner: rang mix \d+ red$|unknown/)]);
  for (const [index, { approved }] of decisions.entries()) {
    expect([label, rung[index]]).toEqual([label, expect.stringMatching(approved ? /^rang|unknown/ : /denied/)]);
  }
  const ids = testbed.bell.rings.flatMap(({ id }) => (id.startsWith(`mix ${number} `) ? [id] : []));
  expect([label, ids]).toEqual([label, [...new Set(ids)]]);
  await checkInbox(agent, label);
}

/** The one who asks is two levels below. Whenever main dies, everyone above knows, and goes on with the answer. */
async function askBelowUnderKills(number: number, random: Random): Promise<void> {
  const point = points[(number * 5) % points.length] as Point;
  const kind = random.pick(["call", "ask"] as const);
  const agent = await testbed.newAgent({ name: `delegating-${number}`, blueprint });
  const label = `delegating-${number}, ${kind}, killed at ${point}`;
  if (point === "ring") testbed.bell.onRing = () => testbed.killMain();
  const { runId } = await agent.invoke({ message: `below ${kind} ${number}` });
  const laterKill = point === "random" ? killLater(random.below(1500)) : undefined;
  await killAt(point, ["asking"]);
  const list = kind === "call" ? "approvals" : "questions";
  const { id, at } = await waitUntil(`${label}: what is asked`, async () => {
    const items = (await testbed.api(`/${list}`)).body[list] as { id: string; agent: string; status?: string }[];
    const item = items.find(({ agent: asking }) => asking.startsWith(`global~${agent.name}/`));
    return item && { id: item.id, at: `/agents/${item.agent.slice("global~".length).split("/").join("/sub/")}` };
  });
  if (random.chance(0.5))
    await waitUntil(`${label}: its parent to know`, async () => (await listWaits(agent)).length === 1);
  await killAt(point, ["asked"]);
  await killAt(point, ["answering"], async () => {
    if (point === "answering") await sleep(random.below(20));
    if (kind === "call") await post(`${at}/approve`, { approvalId: id, approved: true });
    else await post(`${at}/answer`, { value: `answer ${number}` });
  });
  await killAt(point, ["answered"]);
  await laterKill;
  const end = await agent.waitForEnd(runId, 60_000);
  testbed.bell.onRing = () => {};
  expect([label, end.type]).toEqual([label, "agent.completed"]);
  const text = (end.data as { result: string }).result;
  if (kind === "ask") expect([label, text]).toEqual([label, `answer ${number}`]);
  else expect([label, text.split("; ").length]).toEqual([label, 3]);
  const waits = await listWaits(agent);
  const expected = waits.map((_, index) => (index % 2 === 0 ? (kind === "call" ? "approval" : "question") : "goes on"));
  expect([label, waits]).toEqual([label, expected]);
  const { subagents } = (await testbed.api(`${agent.at}/subagents`)).body;
  expect([label, subagents]).toEqual([label, [expect.objectContaining({ status: "complete" })]]);
  expect([label, subagents[0].waitingFor]).toEqual([label, undefined]);
  await checkInbox(agent, label);
}

const listWaits = async (agent: TestAgent) =>
  (await agent.log()).flatMap(({ type, data }) => (type === "subagent.waiting" ? [data.waitingFor ?? "goes on"] : []));

/** What was approved for good is stored, and nothing else is. */
async function checkGrants(agent: TestAgent, label: string, isApproved: boolean): Promise<void> {
  await waitUntil(`${label}: the grant`, async () => {
    const { grants } = (await testbed.api("/agency/global/grants")).body;
    const own = grants.filter((grant: { agent?: string }) => grant.agent === `global~${agent.name}`);
    return own.length === (isApproved ? 1 : 0);
  });
}

/** Nothing of an agent whose turns are over is left in the inbox. */
async function checkInbox(agent: TestAgent, label: string): Promise<void> {
  await waitUntil(`${label}: the inbox`, async () => {
    const [approvals, questions] = await Promise.all([testbed.api("/approvals"), testbed.api("/questions")]);
    const open = [...(approvals.body.approvals ?? [{}]), ...(questions.body.questions ?? [{}])] as { agent: string }[];
    return !open.some((item) => item.agent === `global~${agent.name}`);
  });
}

test(
  `approvals and questions survive ${kills} kills of main`,
  async () => {
    const random = createRandom("approvals");
    for (let number = 0; number < kills; number++) {
      await (number % 3 === 2 ? answerUnderKills : decideUnderKills)(number, random);
    }
    for (let number = 0; number < kills; number++) await answerMixUnderKills(number, random);
    for (let number = 0; number < kills; number++) await askBelowUnderKills(number, random);
  },
  Math.max(150_000, kills * 20_000),
);
