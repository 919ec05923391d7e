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

const kills = getRepeatCount("kills", { sample: 40, full: 200 });
/** Main spends most of such a run starting, so two of them take half as long. */
const houses = 2;
const senders = 4;
/** So many messages of one sender may be under way. */
const maxOpen = 3;
/** After so many kills every turn may get a step further. */
const breath = 8;

const call = (tool: string, input: object) => ({ tool, input });
const ring = (tool: string) => call(tool, { bell: "BELL", id: "{{ message }}" });
const todos = call("write_todos", { todos: [{ content: "{{ message }}", status: "pending" }] });
const words = "one two three four five six seven eight nine ten eleven twelve";

/** What a message asks for is its last word. */
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

/** Where main is killed: at these points as soon as they are seen (or a moment after "sent"), at "random" later. */
const points = ["random", "random", "sent", "acknowledged", "ring", "streaming", "tool started"] as const;
type Point = (typeof points)[number];

let workshops: Testbed[] = [];
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
  shelf = await startBareWorker(new URL("../runtime/store.worker.ts", import.meta.url), { objects: ["Shelf"] });
  workshops = await Promise.all(Array.from({ length: houses }, open));
});

afterAll(async () => {
  await Promise.all(workshops.map((workshop) => workshop.stop()));
  await shelf?.stop();
});

test(
  `turns survive ${kills} kills of main`,
  async () => {
    const chance = createRandom("turns");
    await Promise.all(workshops.map((workshop) => killRepeatedly(workshop, Math.ceil(kills / houses), chance)));
  },
  Math.max(150_000, kills * 2_000),
);

/** Kills one house's main again and again while its agents work, and then looks at what is left. */
async function killRepeatedly(workshop: Testbed, kills: number, chance: Random): Promise<void> {
  const { bell } = workshop;
  const agents = await Promise.all(
    Array.from({ length: senders }, () => workshop.newAgent({ model: "scripted:worker" })),
  );
  const sent = agents.map((): string[] => []);
  const ended = agents.map(() => 0);
  /** Who got anywhere since everybody was last waited for. */
  const advanced = new Set<number>();
  let over = false;
  let armed: Point | undefined;
  let reach = () => {};
  let signs = 0;
  const reached = (point: Point) => {
    signs++;
    if (armed === point) reach();
  };

  bell.onRing = () => {
    if (armed !== "ring") return;
    reach();
    // Its answer never comes: main is dead before.
    return new Promise(() => {});
  };

  const followers = agents.map(({ at }, index) =>
    follow({
      url: `${workshop.house().url}${at}/events`,
      token: workshop.house().token,
      leave: () => chance.chance(0.02),
      onEvent: ({ type }) => {
        if (turnEndTypes.includes(type)) ended[index] = (ended[index] ?? 0) + 1;
        if (type === "model.completed" || type === "tool.output") advanced.add(index);
        if (type === "model.delta" || type === "model.started") reached("streaming");
        if (type === "tool.started") reached("tool started");
      },
    }),
  );

  /** Like any careful client: the same message with the same key until there is an answer. */
  async function send(agent: TestAgent, name: string): Promise<void> {
    const body = { message: name, idempotencyKey: name };
    const post = () => workshop.api(`${agent.at}/invoke`, "POST", body).catch(() => undefined);
    for (let answers = 0; answers === 0 || chance.chance(0.1);) {
      const posted = post();
      reached("sent");
      const answer = await posted;
      // Some clients forget that they were answered, and send it once more.
      if (answer?.status === 202) answers++;
      else if (answer && answer.status !== 503) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
      else await sleep(5);
    }
    reached("acknowledged");
    reached("random");
  }

  const sending = agents.map(async (agent, index) => {
    const mine = sent[index] as string[];
    while (!over) {
      const name = `s${index}-${mine.length} ${chance.pick(["talk", "plan", "once", "again", "many"])}`;
      mine.push(name);
      await send(agent, name);
      while (!over && mine.length - (ended[index] ?? 0) > maxOpen) await sleep(5);
    }
  });

  const nextPoint = chance.deck(points);
  const missed: Point[] = [];
  let killed = 0;
  for (let kill = 0; kill < kills; kill++) {
    // A turn that never gets to finish a step is given up, and rightly so; here each is let live in time.
    if (kill % breath === breath - 1) {
      await waitUntil("every agent to get somewhere", () => advanced.size === senders);
      advanced.clear();
    }
    const before = signs;
    await waitUntil("a sign of life", () => signs > before);
    const main = await waitUntil("main to live", () => findMain(workshop.home, killed), { every: 30 });
    killed = main.pid;
    const point = nextPoint();
    const hit = new Promise<boolean>((resolve) => (reach = () => resolve(true)));
    armed = point;
    if (!(await Promise.race([hit, sleep(6_000)]))) missed.push(point);
    await sleep(chance.below(point === "random" ? 120 : point === "sent" ? 8 : 1));
    process.kill(main.pid, "SIGKILL");
    armed = undefined;
  }
  over = true;
  await Promise.all(sending);

  // From here on nobody is connected, and nobody asks: the turns have to go on by themselves.
  for (const [index, agent] of agents.entries()) {
    sent[index]?.push(`s${index} last`);
    await send(agent, `s${index} last`);
  }
  await Promise.all(followers.map((follower) => follower.stop()));
  process.kill((await waitUntil("main to live", () => findMain(workshop.home, killed))).pid, "SIGKILL");
  await waitUntil(
    "the last ring of every agent",
    () => agents.every((_, index) => bell.rings.some(({ id }) => id === `s${index} last`)),
    { within: 60_000 },
  );

  const usual = await recordUninterrupted(workshop);
  const messages: Message[] = [];
  for (const [index, agent] of agents.entries()) {
    await waitUntil("the last turn's end", async () => (await agent.run()).status === "completed");
    const whole = (await workshop.api(`${agent.at}/export`)).body as AgentExport;
    const log = whole.events;
    expectWholeLog(log, followers[index] as Follower);
    expectOutcomes(log, sent[index] as string[]);
    expectTranscript(whole.messages, sent[index] as string[], usual);
    expectRings(whole.messages, bell.rings);
    expect(whole.usage.turns).toEqual({ completed: sent[index]?.length, error: 0, canceled: 0, open: 0 });
    const { format: _, version: __, agent: ___, events: ____, ...derived } = whole;
    expect(await rebuildState(workshop, agent.name, log)).toEqual(derived);
    messages.push(...whole.messages);
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

/** Every number once and in order, and whoever listened all the time was told exactly what is stored. */
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

/** The transcript of one message of each kind, in peace. */
async function recordUninterrupted(workshop: Testbed): Promise<Map<string, Line[]>> {
  workshop.bell.onRing = () => {};
  const agent = await workshop.newAgent({ model: "scripted:worker" });
  const usual = new Map<string, Line[]>();
  for (const kind of Object.keys(kinds)) {
    const before = (await agent.messages()).length;
    await agent.say(`NAME ${kind}`);
    usual.set(kind, (await agent.messages()).slice(before).map(toLine));
  }
  return usual;
}

/** Each message exactly once, in its sender's order, answered as if nothing had happened; but for what may be unknown. */
function expectTranscript(messages: Message[], sent: string[], usual: Map<string, Line[]>): void {
  const expected = sent.flatMap((message) => {
    const [name = "", kind = ""] = message.split(" ");
    return JSON.parse(JSON.stringify(usual.get(kind)).replaceAll("NAME", name)) as Line[];
  });
  const lines = messages.map((message, index): Line => {
    const line = toLine(message);
    return isUnknown(message) ? ["tool", expected[index]?.[1] ?? "", []] : line;
  });
  expect(lines).toEqual(expected);
}

const isUnknown = ({ toolResult, content }: Message) =>
  toolResult?.name === "ring" && toolResult.failed === true && content.includes("unknown");

/** What may not be repeated happened once at most, and the model was told where nobody knows; the rest has results. */
function expectRings(messages: Message[], rings: Ring[]): void {
  for (const message of messages) {
    const { toolResult, content } = message;
    if (!toolResult?.name.startsWith("ring")) continue;
    const heard = rings.filter(({ callId }) => callId === toolResult.callId);
    if (toolResult.name === "ring") expect(heard.length, toolResult.callId).toBeLessThanOrEqual(1);
    if (isUnknown(message)) continue;
    expect([toolResult.failed ?? false, content]).toEqual([false, `rang ${heard[0]?.id}`]);
  }
}

/**
 * The ledger's row is there before the effect: whatever rang, the log knows its call. And what may not be repeated
 * rang once for its message, also where the model was asked again.
 */
function expectNoEffectUnknownToTheLog(messages: Message[], rings: Ring[]): void {
  const known = new Set(messages.flatMap(({ toolResult }) => toolResult?.callId ?? []));
  expect(rings.filter(({ callId }) => !known.has(callId))).toEqual([]);
  const once = rings.filter(({ tool }) => tool === "ring").map(({ id }) => id);
  expect(once.filter((id, index) => once.indexOf(id) !== index)).toEqual([]);
}

/** Everything an agent derived from its log, derived once more elsewhere. */
async function rebuildState({ home }: Testbed, name: string, log: AgentEvent[]): Promise<unknown> {
  const body = JSON.stringify({ step: "load", log, agent: `global~${name}` });
  return (await fetch(`${shelf.url}/${encodeURIComponent(home + name)}`, { method: "POST", body })).json();
}

const sleep = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms));
