import type { AgentEvent, AgentExport, AgentLogLine, Health } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { findMain } from "../kit/processes.ts";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { deployAgent } from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed, turnEndTypes } from "../kit/worker/testbed.ts";
import { answerPrompt, createMessage, durableAgent, expectText, isUnknown, kinds } from "./durable-agent.ts";
import { follow } from "./follower.ts";

// Kills main, and the processes that run the code of user agents, while these work.

const kills = getRepeatCount("user agent kills", { sample: 12, full: 50 });
const agentCount = 4;
/** Maximum unfinished messages per agent. */
const maxOpen = 2;

/** When a process is killed: as soon as one of these points is reached, or a moment later for "random". */
const points = [
  "random",
  "random",
  "accepted",
  "ring",
  "model",
  "streaming",
  "tool started",
  "reply completed",
] as const;
type Point = (typeof points)[number];
const pointsByEvent: Partial<Record<AgentEvent["type"], Point>> = {
  "request.accepted": "accepted",
  "model.delta": "streaming",
  "tool.started": "tool started",
  "reply.completed": "reply completed",
};

const targets = ["main", "code"] as const;

/** Something that happened outside of the host, in order. */
interface Effect {
  kind: "model" | "ring" | "ring_again";
  /** The message, and for models also the step. */
  id: string;
  /** How many processes had been killed, and how many of them so long ago that nothing of them is still on its way. */
  killed: number;
  settled: number;
}

let testbed: Testbed;
let models: ModelServer;

beforeAll(async () => {
  models = await openModelServer();
  testbed = await openTestbed({
    config: {
      maxFailuresPerMinute: 100_000,
      sandboxSlots: 1,
      agentSlots: 2,
      providers: { local: { baseUrl: `${models.url}/v1` } },
      model: "local:test-model",
      turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
    },
  });
  await deployAgent(testbed.host().client, "durable", durableAgent(testbed.bell.url) as never, {
    capabilities: ["ai", "tools", "fs"],
    createAgent: false,
  });
});

afterAll(async () => {
  await testbed?.stop();
  await models?.stop();
});

test(
  `turns of user agents survive ${kills} kills of main and of the processes of their code`,
  async () => {
    const random = createRandom("user agents");
    const agents = await Promise.all(
      Array.from({ length: agentCount }, (_, index) =>
        testbed.newAgent({ name: `durable-${index}`, blueprint: "durable" }),
      ),
    );
    const sent = agents.map((): string[] => []);
    const ended = agents.map(() => 0);
    const effects: Effect[] = [];
    /** Agents that have ended a turn since the last kill of a process of their code. */
    const advanced = new Set<number>();
    let isOver = false;
    let killed = 0;
    let settled = 0;
    let target: Point | undefined;
    let hitTarget = () => {};
    const reach = (point: Point) => {
      if (target === point) hitTarget();
    };
    /** Holds the response to a call until a process was killed, if that is what the next kill waits for. */
    const hold = async (point: Point) => {
      if (target !== point) return;
      const before = killed;
      hitTarget();
      await waitUntil("the kill", () => killed > before);
    };
    testbed.bell.onRing = ({ tool, id }) => {
      effects.push({ kind: tool as "ring", id, killed, settled });
      return hold("ring");
    };
    models.answer(({ latest }) => {
      effects.push({ kind: "model", id: latest, killed, settled });
      reach("model");
      return { text: answerPrompt(latest), delayMs: 3 };
    });
    const followers = agents.map(({ at }, index) =>
      follow({
        url: `${testbed.host().url}${at}/events`,
        token: testbed.host().token,
        shouldReconnect: () => random.chance(0.02),
        onEvent({ type }) {
          const point = pointsByEvent[type];
          if (point) reach(point);
          reach("random");
          if (!turnEndTypes.includes(type)) return;
          ended[index] = (ended[index] ?? 0) + 1;
          advanced.add(index);
        },
      }),
    );
    const nextKind = random.deck(Object.keys(kinds));
    const sending = agents.map(async (agent, index) => {
      const mine = sent[index] as string[];
      while (!isOver) {
        mine.push(createMessage(`m${index}-${mine.length}`, nextKind()));
        await send(agent, mine.at(-1) as string);
        await waitUntil("a turn to end", () => isOver || mine.length - (ended[index] ?? 0) < maxOpen, {
          timeoutMs: 120_000,
        });
      }
    });

    const nextPoint = random.deck(points);
    const nextTarget = random.deck(targets);
    const missed: Point[] = [];
    let mainPid = 0;
    while (killed < kills) {
      const isMain = nextTarget() === "main";
      // Code whose process ends again and again would rightly be given up, so each turn gets the time to end.
      if (!isMain || killed % 8 === 7)
        await waitUntil("every agent to end a turn", () => advanced.size === agentCount, { timeoutMs: 120_000 });
      advanced.clear();
      const main = await waitUntil("main to run", () => findMain(testbed.home, mainPid), { intervalMs: 30 });
      await waitUntil("main to respond", async () => (await testbed.api("/health")).status === 200);
      settled = killed;
      const point = nextPoint();
      const hit = new Promise<boolean>((resolve) => (hitTarget = () => resolve(true)));
      target = point;
      if (!(await Promise.race([hit, sleep(6_000)]))) missed.push(point);
      await sleep(random.below(point === "random" ? 120 : 2));
      if (isMain) mainPid = main.pid;
      process.kill(isMain ? main.pid : await findCodeProcess(), "SIGKILL");
      target = undefined;
      killed++;
    }
    isOver = true;
    await Promise.all(sending);

    // From here on there are no connections and no requests: the turns have to continue by themselves.
    for (const [index, agent] of agents.entries()) {
      sent[index]?.push(createMessage(`m${index}-last`, "again"));
      await send(agent, sent[index]?.at(-1) as string);
    }
    await Promise.all(followers.map((follower) => follower.stop()));
    process.kill((await waitUntil("main to run", () => findMain(testbed.home, mainPid))).pid, "SIGKILL");
    killed++;
    const isRung = (id: string) => effects.some((effect) => effect.kind === "ring_again" && effect.id === id);
    await waitUntil("the last rings", () => agents.every((_, index) => isRung(`m${index}-last`)), {
      timeoutMs: 60_000,
    });

    const unknown: string[] = [];
    for (const [index, agent] of agents.entries()) {
      await waitUntil("the last turn's end", async () => (await agent.run()).status === "completed");
      const exported = (await testbed.api(`${agent.at}/export`)).body as AgentExport;
      expectOutcomes(exported.events, sent[index] as string[]);
      unknown.push(...expectTexts(exported, sent[index] as string[]));
      await expectChangesOfAllTurns(agent, exported, sent[index] as string[]);
      await expectFiles(agent, exported, sent[index] as string[]);
      expectEachLineOnce(await readLog(agent), sent[index] as string[]);
    }
    expectEffects(effects);
    console.log(
      `${sent.flat().length} turns over ${killed} kills, ${effects.length} effects, ${unknown.length} of them unknown; ${missed.length} points not reached in time`,
    );
    expect(missed.length).toBeLessThan(kills / 10 + 3);
  },
  Math.max(120_000, kills * 6_000),
);

/** Sends the same message with the same key until there is a response, as a careful client does. */
async function send(agent: TestAgent, message: string): Promise<void> {
  await waitUntil(
    "a response to the message",
    async () => {
      const body = { message, idempotencyKey: message };
      const response = await testbed.api(`${agent.at}/invoke`, "POST", body).catch(() => undefined);
      if (response && ![202, 503].includes(response.status))
        throw new Error(`${response.status}: ${JSON.stringify(response.body)}`);
      return response?.status === 202;
    },
    { timeoutMs: 60_000, intervalMs: 5 },
  );
}

/** Returns a process that runs the code of user agents, preferably one that does so now. */
function findCodeProcess(): Promise<number> {
  return waitUntil("a process of the code", async () => {
    const { sandboxes = [] } = (await testbed.api("/health")).body as Health;
    // The slots for user agents come after those for runs.
    const running = sandboxes.slice(1).filter(({ state, pid }) => state === "ready" && pid !== undefined);
    return (running.find(({ agent }) => agent !== undefined) ?? running[0])?.pid;
  });
}

/** Each message has exactly one outcome. */
function expectOutcomes(log: AgentEvent[], sent: string[]): void {
  const accepted = log.flatMap((event) => (event.type === "request.accepted" ? [event.data] : []));
  expect(accepted.map(({ idempotencyKey }) => idempotencyKey)).toEqual(sent);
  const outcomes = log.flatMap((event) =>
    event.type === "agent.completed" || event.type === "agent.error" || event.type === "run.canceled"
      ? [[event.type, event.data.runId, event.type === "agent.error" ? event.data.error : ""]]
      : [],
  );
  expect(outcomes).toEqual(accepted.map(({ runId }) => ["agent.completed", runId, ""]));
}

/** Each turn said what it says without kills, given which outcomes are unknown. Returns those. */
function expectTexts({ events, messages }: AgentExport, sent: string[]): string[] {
  expect(messages.filter(({ status }) => status !== "complete")).toEqual([]);
  const completed = events.flatMap((event) => (event.type === "agent.completed" ? [event.data] : []));
  const unknownCalls: string[] = [];
  for (const [index, { runId, result }] of completed.entries()) {
    const message = sent[index] as string;
    const ofTurn = messages.filter((candidate) => candidate.runId === runId);
    const unknown = new Set(ofTurn.filter(isUnknown).map(({ toolResult }) => toolResult?.name ?? ""));
    // Capabilities have no messages; the code says what it was told.
    if (/\[file: \(unknown\)\]/.test(result)) unknown.add("writeFile");
    const text = expectText(message, unknown);
    const said = ofTurn.filter(({ role }) => role === "assistant").map(({ content }) => content);
    expect([message, result, said.join("")]).toEqual([message, text, text]);
    for (const { toolResult, content } of ofTurn)
      if (toolResult?.failed) expect([message, content]).toEqual([message, expect.stringContaining("unknown")]);
    unknownCalls.push(...unknown);
  }
  return unknownCalls;
}

/** State and storage have the changes of all turns, each once. */
async function expectChangesOfAllTurns(
  { at }: TestAgent,
  { codeValues = [] }: AgentExport,
  sent: string[],
): Promise<void> {
  const [id] = sent.at(-1)?.split(" ") ?? [];
  const { code } = (await testbed.api(`${at}/state`)).body.state as { code: { state: unknown } };
  expect(code.state).toEqual({ begun: sent.length, ended: sent.length, last: id });
  expect(Object.fromEntries(codeValues.map(({ key, value }) => [key, value]))).toEqual({
    begun: sent.length,
    ended: sent.length,
    last: id,
  });
}

/** Each command and each write took effect once, or at most once if its outcome is unknown. */
async function expectFiles({ at }: TestAgent, { messages }: AgentExport, sent: string[]): Promise<void> {
  const { body } = await testbed.api(`${at}/files/log.txt`);
  const lines = typeof body === "string" ? body.split("\n").filter(Boolean) : [];
  expect(lines.filter((line, index) => lines.indexOf(line) !== index)).toEqual([]);
  const known = messages.filter((message) => message.toolResult?.name === "bash" && !isUnknown(message));
  for (const { content } of known) expect(lines).toContain(content);
  const ids = sent.filter((message) => message.includes(" shell ")).map((message) => message.split(" ")[0] as string);
  expect(lines.filter((line) => !ids.includes(line))).toEqual([]);
  for (const message of sent.filter((candidate) => candidate.includes(" file "))) {
    const [id = ""] = message.split(" ");
    const said = messages.find(({ content }) => content === message);
    const isKnown = messages.some(({ runId, content }) => runId === said?.runId && content.includes("[file: written]"));
    if (isKnown) expect([id, (await testbed.api(`${at}/files/${id}.txt`)).body]).toEqual([id, id]);
  }
}

async function readLog({ at }: TestAgent): Promise<AgentLogLine[]> {
  const lines: AgentLogLine[] = [];
  for (let after = 0; ;) {
    const { body } = await testbed.api(`${at}/logs?after=${after}&limit=500`);
    if (body.logs.length === 0) return lines;
    lines.push(...(body.logs as AgentLogLine[]));
    after = body.last;
  }
}

function expectEachLineOnce(lines: AgentLogLine[], sent: string[]): void {
  expect(lines.map(({ text }) => text).filter((text) => text.endsWith(" is done"))).toEqual(
    sent.map((message) => `${message.split(" ")[0]} is done`),
  );
}

/**
 * Calls that are not idempotent were made once, and others again only after a kill during them. What a model has answered
 * is not asked again: the code has gone on to a bell since.
 */
function expectEffects(effects: readonly Effect[]): void {
  const last = new Map<string, Effect>();
  const rung = new Set<string>();
  for (const effect of effects) {
    const { kind, id, killed } = effect;
    const former = last.get(`${kind} ${id}`);
    if (former) expect([effect, former, kind !== "ring" && killed > former.settled]).toEqual([effect, former, true]);
    last.set(`${kind} ${id}`, effect);
    const [message = "", step] = id.split(" ");
    if (kind !== "model") rung.add(message);
    else if (step === "0") expect([id, rung.has(message)]).toEqual([id, false]);
  }
}

const sleep = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms));
