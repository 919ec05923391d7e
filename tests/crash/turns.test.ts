import type { AgentEvent, AgentExport, Message } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findMain } from "../kit/processes.ts";
import { type Random, createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import type { Ring } from "../kit/worker/bell.ts";
import { turnEndTypes, openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";
import { type Follower, follow } from "./follower.ts";

const kills = getRepeatCount("kills", { sample: 16, full: 200 });
/** Main spends most of the test starting, so two hosts take half as long. */
const hostCount = 2;
const senders = 4;
/** Maximum unfinished messages per sender. */
const maxOpen = 3;
/** After this many kills, the test waits until every agent has advanced. */
const killsPerPause = 8;

const call = (tool: string, input: object) => ({ tool, input });
const ring = (tool: string) => call(tool, { bell: "BELL", id: "{{ message }}" });
const todos = call("write_todos", { todos: [{ content: "{{ message }}", status: "pending" }] });
const words = "one two three four five six seven eight nine ten eleven twelve";

/** The last word of a message selects its kind. */
const kinds: Record<string, object[]> = {
  talk: [{ reasoning: "Hm. " }, { text: `A few words about {{ message }}: ${words}.` }],
  plan: [
    { text: "I plan. " },
    { call: todos },
    { call: call("set_title", { title: "About {{ message }}" }) },
    { text: "Planned {{ message }}." },
  ],
  once: [{ text: "Ringing for {{ message }}. " }, { call: ring("ring") }, { text: "Rang once for {{ message }}." }],
  again: [{ call: ring("ring_again") }, { text: `Rang for {{ message }}: ${words}.` }],
  many: [
    { calls: [ring("ring"), ring("ring_again"), todos] },
    { call: ring("ring_again") },
    { text: "Did many things for {{ message }}." },
  ],
  last: [{ call: ring("ring_again") }, { text: "That was {{ message }}." }],
};

/** When main is killed: as soon as one of these points is reached, or a moment later for "sent" and "random". */
const points = ["random", "random", "sent", "acknowledged", "ring", "streaming", "tool started"] as const;
type Point = (typeof points)[number];

let testbeds: Testbed[] = [];
let shelf: BareWorker;

beforeAll(async () => {
  const exchanges = Object.entries(kinds).map(([kind, steps]) => ({ when: `/ ${kind}$/`, steps }));
  const open = () =>
    openTestbed({
      scripts: { worker: { pace: 3, exchanges } },
      config: {
        maxFailuresPerMinute: 100_000,
        sandboxSlots: 0,
        turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
      },
    });
  shelf = await startBareWorker(new URL("../runtime/store.worker.ts", import.meta.url), { objects: ["StoreObject"] });
  testbeds = await Promise.all(Array.from({ length: hostCount }, open));
});

afterAll(async () => {
  await Promise.all(testbeds.map((testbed) => testbed.stop()));
  await shelf?.stop();
});

test(
  `turns survive ${kills} kills of main`,
  async () => {
    const random = createRandom("turns");
    await Promise.all(testbeds.map((testbed) => killRepeatedly(testbed, Math.ceil(kills / hostCount), random)));
  },
  Math.max(150_000, kills * 2_000),
);

/** Repeatedly kills main of one host while its agents work, and then checks the result. */
async function killRepeatedly(testbed: Testbed, kills: number, random: Random): Promise<void> {
  const { bell } = testbed;
  const agents = await Promise.all(
    Array.from({ length: senders }, () => testbed.newAgent({ model: "scripted:worker" })),
  );
  const sent = agents.map((): string[] => []);
  const ended = agents.map(() => 0);
  /** Agents that have advanced since the last pause. */
  const advanced = new Set<number>();
  let isOver = false;
  let target: Point | undefined;
  let hitTarget = () => {};
  let pointCount = 0;
  const reach = (point: Point) => {
    pointCount++;
    if (target === point) hitTarget();
  };

  bell.onRing = () => {
    if (target !== "ring") return;
    hitTarget();
    // Never responds; main is killed first.
    return new Promise(() => {});
  };

  const followers = agents.map(({ at }, index) =>
    follow({
      url: `${testbed.host().url}${at}/events`,
      token: testbed.host().token,
      shouldReconnect: () => random.chance(0.02),
      onEvent: ({ type }) => {
        if (turnEndTypes.includes(type)) ended[index] = (ended[index] ?? 0) + 1;
        if (type === "model.completed" || type === "tool.output") advanced.add(index);
        if (type === "model.delta" || type === "model.started") reach("streaming");
        if (type === "tool.started") reach("tool started");
      },
    }),
  );

  /** Sends the same message with the same key until there is a response, as a careful client does. */
  async function send(agent: TestAgent, name: string): Promise<void> {
    const body = { message: name, idempotencyKey: name };
    const post = () => testbed.api(`${agent.at}/invoke`, "POST", body).catch(() => undefined);
    // Some clients send it once more although it was accepted.
    for (let responses = 0; responses === 0 || random.chance(0.1);) {
      const posted = post();
      reach("sent");
      const response = await posted;
      if (response?.status === 202) responses++;
      else if (response && response.status !== 503)
        throw new Error(`${response.status}: ${JSON.stringify(response.body)}`);
      else await sleep(5);
    }
    reach("acknowledged");
    reach("random");
  }

  const sending = agents.map(async (agent, index) => {
    const mine = sent[index] as string[];
    while (!isOver) {
      const name = `s${index}-${mine.length} ${random.pick(["talk", "plan", "once", "again", "many"])}`;
      mine.push(name);
      await send(agent, name);
      while (!isOver && mine.length - (ended[index] ?? 0) > maxOpen) await sleep(5);
    }
  });

  const nextPoint = random.deck(points);
  const missed: Point[] = [];
  let killed = 0;
  for (let kill = 0; kill < kills; kill++) {
    // A turn that never finishes a step would rightly be given up, so each gets the time for one.
    if (kill % killsPerPause === killsPerPause - 1) {
      await waitUntil("every agent to advance", () => advanced.size === senders);
      advanced.clear();
    }
    const before = pointCount;
    await waitUntil("main to work", () => pointCount > before);
    const main = await waitUntil("main to run", () => findMain(testbed.home, killed), { intervalMs: 30 });
    killed = main.pid;
    const point = nextPoint();
    const hit = new Promise<boolean>((resolve) => (hitTarget = () => resolve(true)));
    target = point;
    if (!(await Promise.race([hit, sleep(6_000)]))) missed.push(point);
    await sleep(random.below(point === "random" ? 120 : point === "sent" ? 8 : 1));
    process.kill(main.pid, "SIGKILL");
    target = undefined;
  }
  isOver = true;
  await Promise.all(sending);

  // From here on there are no connections and no requests: the turns have to continue by themselves.
  for (const [index, agent] of agents.entries()) {
    sent[index]?.push(`s${index} last`);
    await send(agent, `s${index} last`);
  }
  await Promise.all(followers.map((follower) => follower.stop()));
  process.kill((await waitUntil("main to run", () => findMain(testbed.home, killed))).pid, "SIGKILL");
  await waitUntil(
    "the last ring of every agent",
    () => agents.every((_, index) => bell.rings.some(({ id }) => id === `s${index} last`)),
    { timeoutMs: 60_000 },
  );

  const uninterrupted = await recordUninterrupted(testbed);
  const messages: Message[] = [];
  for (const [index, agent] of agents.entries()) {
    await waitUntil("the last turn's end", async () => (await agent.run()).status === "completed");
    const exported = (await testbed.api(`${agent.at}/export`)).body as AgentExport;
    const log = exported.events;
    expectWholeLog(log, followers[index] as Follower);
    expectOutcomes(log, sent[index] as string[]);
    expectTranscript(exported.messages, sent[index] as string[], uninterrupted);
    expectRings(exported.messages, bell.rings);
    expect(exported.usage.turns).toEqual({ completed: sent[index]?.length, error: 0, canceled: 0, open: 0 });
    const { format: _, version: __, agent: ___, events: ____, ...derived } = exported;
    expect(await rebuildState(testbed, agent.name, log)).toEqual(derived);
    messages.push(...exported.messages);
  }
  expectNoEffectUnknownToTheLog(
    messages,
    bell.rings.filter(({ id }) => !id.includes("NAME")),
  );
  const count = (condition: (message: Message) => boolean) => messages.filter(condition).length;
  console.log(
    `${sent.flat().length} turns over ${kills} kills, ${count(({ role }) => role === "tool")} tool results, ${count(isUnknown)} of them unknown; ${missed.length} points not reached in time`,
  );
  expect(missed.length).toBeLessThan(kills / 10 + 2);
}

/** Sequence numbers are consecutive, and the follower received exactly what is stored. */
function expectWholeLog(log: AgentEvent[], { received }: Follower): void {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  expect(received.map(({ seq }) => seq)).toEqual(received.map((_, index) => index + 1));
  for (const { seq, text } of received) expect(JSON.parse(text)).toEqual(log[seq - 1]);
}

function expectOutcomes(log: AgentEvent[], sent: string[]): void {
  const accepted = log.flatMap((event) => (event.type === "request.accepted" ? [event.data] : []));
  expect(accepted.map(({ idempotencyKey }) => idempotencyKey)).toEqual(sent);
  const failures = log.flatMap((event) => (event.type === "agent.error" ? [event.data] : []));
  expect(failures).toEqual([]);
  const outcomes = log.flatMap((event) =>
    event.type === "agent.completed" || event.type === "run.canceled" ? [[event.type, event.data.runId]] : [],
  );
  expect(outcomes).toEqual(accepted.map(({ runId }) => ["agent.completed", runId]));
}

type Line = [role: string, content: string, calls: unknown];

const toLine = ({ role, content, toolCalls }: Message): Line => [
  role,
  content,
  (toolCalls ?? []).map(({ name, input }) => ({ name, input })),
];

/** Records the transcript of one message of each kind, without kills. */
async function recordUninterrupted(testbed: Testbed): Promise<Map<string, Line[]>> {
  testbed.bell.onRing = () => {};
  const agent = await testbed.newAgent({ model: "scripted:worker" });
  const transcripts = new Map<string, Line[]>();
  for (const kind of Object.keys(kinds)) {
    const before = (await agent.messages()).length;
    await agent.say(`NAME ${kind}`);
    transcripts.set(kind, (await agent.messages()).slice(before).map(toLine));
  }
  return transcripts;
}

/** Each message appears once, in order, answered as without kills, except for tool results that may be unknown. */
function expectTranscript(messages: Message[], sent: string[], uninterrupted: Map<string, Line[]>): void {
  const expected = sent.flatMap((message) => {
    const [name = "", kind = ""] = message.split(" ");
    return JSON.parse(JSON.stringify(uninterrupted.get(kind)).replaceAll("NAME", name)) as Line[];
  });
  const lines = messages.map((message, index): Line => {
    const line = toLine(message);
    return isUnknown(message) ? ["tool", expected[index]?.[1] ?? "", []] : line;
  });
  expect(lines).toEqual(expected);
}

const isUnknown = ({ toolResult, content }: Message) =>
  toolResult?.name === "ring" && toolResult.failed === true && content.includes("unknown");

/** Calls that are not idempotent happened at most once, and have either a result or an unknown outcome. */
function expectRings(messages: Message[], rings: Ring[]): void {
  for (const message of messages) {
    const { toolResult, content } = message;
    if (!toolResult?.name.startsWith("ring")) continue;
    const matching = rings.filter(({ callId }) => callId === toolResult.callId);
    if (toolResult.name === "ring") expect(matching.length, toolResult.callId).toBeLessThanOrEqual(1);
    if (isUnknown(message)) continue;
    expect([toolResult.failed ?? false, content]).toEqual([false, `rang ${matching[0]?.id}`]);
  }
}

/**
 * The ledger entry is written before the effect, so the log knows the call of every ring. Calls that are not idempotent
 * rang once per message, even if the model was called again.
 */
function expectNoEffectUnknownToTheLog(messages: Message[], rings: Ring[]): void {
  const known = new Set(messages.flatMap(({ toolResult }) => toolResult?.callId ?? []));
  expect(rings.filter(({ callId }) => !known.has(callId))).toEqual([]);
  const once = rings.filter(({ tool }) => tool === "ring").map(({ id }) => id);
  expect(once.filter((id, index) => once.indexOf(id) !== index)).toEqual([]);
}

/** Derives the state of an agent again from its log, in another Worker. */
async function rebuildState({ home }: Testbed, name: string, log: AgentEvent[]): Promise<unknown> {
  const body = JSON.stringify({ step: "load", log, agent: `global~${name}` });
  return (await fetch(`${shelf.url}/${encodeURIComponent(home + name)}`, { method: "POST", body })).json();
}

const sleep = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms));
