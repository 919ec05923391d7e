import type { AgentEvent, CreatedWebhook } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deliver, getNowSeconds } from "../kit/deliver.ts";
import { findMain } from "../kit/processes.ts";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Main is killed around deliveries to webhooks. What a sender saw accepted happens exactly once, whether it resumes a
// call or starts a turn; what it saw no response for, at most once, however often the sender tried.

const kills = getRepeatCount("kills", { sample: 12, full: 100 });
const senders = 3;

/** What a sender does when there is no response. */
const reactions = ["give up", "send the same again", "sign again, with the same key"] as const;

interface Sent {
  id: string;
  /** The status of the response that the sender got in the end, if any. */
  status?: number;
}

let testbed: Testbed;

beforeAll(async () => {
  const wait = { tool: "waitForWebhook", input: { name: "deploys" } };
  testbed = await openTestbed({
    scripts: {
      default: [
        { when: "/^wait/", steps: [{ call: wait }, { text: "Heard {{ results.0 }}" }] },
        { steps: [{ text: "Received." }] },
      ],
    },
    config: {
      maxFailuresPerMinute: 100_000,
      sandboxSlots: 0,
      turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

test(
  `accepted deliveries have exactly one effect over ${kills} kills of main`,
  async () => {
    const random = createRandom("webhooks");
    let isOver = false;
    let responses = 0;

    /** Sends a request to the API until there is a response. */
    async function insist(path: string, method = "GET", body?: object) {
      for (;;) {
        const response = await testbed.api(path, method, body).catch(() => undefined);
        if (response && response.status < 500) return response;
        await sleep(5);
      }
    }

    async function attempt(hook: CreatedWebhook, id: string, timestamp: number): Promise<number | undefined> {
      const headers = { "idempotency-key": id };
      const body = JSON.stringify({ id });
      const options = { port: testbed.host().port, ...hook, body, timestamp, headers };
      const status = await deliver(options).then(
        (response) => response.status,
        () => undefined,
      );
      if (status === undefined || status >= 500) return undefined;
      responses++;
      return status;
    }

    async function send(hook: CreatedWebhook, id: string): Promise<Sent> {
      const reaction = random.pick(reactions);
      const now = getNowSeconds();
      const signsAgain = reaction === "sign again, with the same key";
      let tries = 0;
      const tryAgain = () => attempt(hook, id, signsAgain ? now - (tries++ % 100) : now);
      let status = await tryAgain();
      while (status === undefined || status === 429) {
        // Nothing has happened if it was refused.
        if (reaction === "give up" && status === undefined) return { id };
        await sleep(status === 429 ? 200 : 30);
        status = await tryAgain();
      }
      // Some senders try again although it was accepted.
      while (random.chance(0.4)) {
        const repeated = await tryAgain();
        if (repeated === undefined || repeated === 429) await sleep(30);
        else if (!signsAgain) expect([id, repeated]).toEqual([id, 401]);
        else if (status !== 401 && repeated !== 401) expect([id, repeated]).toEqual([id, status]);
      }
      return { id, status };
    }

    async function work(agent: TestAgent, hook: CreatedWebhook): Promise<Sent[]> {
      const sent: Sent[] = [];
      for (let number = 0; !isOver; number++) {
        const id = `${agent.name}-${number}.`;
        if (random.chance(0.5)) {
          await insist(`${agent.at}/invoke`, "POST", { message: `wait ${number}`, idempotencyKey: id });
        }
        sent.push(await send(hook, id));
      }
      // Turns that still wait, and those behind them.
      for (let number = 0; ; number++) {
        const { state, run } = (await insist(`${agent.at}/state`)).body;
        if (state.status === "idle") break;
        if (run.status === "paused") sent.push(await send(hook, `${agent.name}-end-${number}.`));
        else await sleep(20);
      }
      return sent;
    }

    const agents = await Promise.all(
      Array.from({ length: senders }, () => testbed.newAgent({ model: "scripted:default" })),
    );
    const hooks = await Promise.all(
      agents.map(async (agent) => (await testbed.api(`${agent.at}/hooks`, "POST", { name: "deploys" })).body),
    );
    const working = Promise.all(
      agents.map(async (agent, index) => ({ agent, sent: await work(agent, hooks[index] as CreatedWebhook) })),
    );
    // It is awaited after the kills.
    working.catch(() => {});
    for (let kill = 0, killed = 0; kill < kills; kill++) {
      const main = await waitUntil("main to run", () => findMain(testbed.home, killed), { intervalMs: 30 });
      const target = responses + 1 + random.below(20);
      await waitUntil("deliveries", () => responses >= target, { intervalMs: 1 });
      await sleep(random.below(10));
      killed = main.pid;
      process.kill(main.pid, "SIGKILL");
    }
    isOver = true;

    const totals = { deliveries: 0, resumed: 0, accepted: 0, replays: 0, unknown: 0 };
    for (const { agent, sent } of await working) {
      const log = await agent.log();
      const effects = log.flatMap(toEffect);
      for (const { id, status } of sent) {
        const own = effects.filter(({ text }) => text.includes(`"${id}"`));
        totals.deliveries++;
        if (status === undefined) {
          expect([id, own.length <= 1]).toEqual([id, true]);
          totals.unknown++;
          continue;
        }
        // The sender learns that its signature was used: the response of an earlier attempt was lost.
        if (status === 401) totals.replays++;
        else expect([id, status]).toEqual([id, own[0]?.kind === "resumed" ? 200 : 202]);
        expect([id, status, own.length]).toEqual([id, status, 1]);
      }
      totals.resumed += effects.filter(({ kind }) => kind === "resumed").length;
      totals.accepted += effects.filter(({ kind }) => kind === "accepted").length;
      expectHeardOnce(log);
    }
    console.log(`${kills} kills: ${JSON.stringify(totals)}`);
    expect(totals.resumed).toBeGreaterThan(kills / 2);
    expect(totals.accepted).toBeGreaterThan(kills / 2);
  },
  Math.max(120_000, kills * 3_000),
);

function toEffect(event: AgentEvent): { kind: "resumed" | "accepted"; text: string }[] {
  if (event.type === "continuation.resolved") return [{ kind: "resumed", text: JSON.stringify(event.data.value) }];
  if (event.type !== "request.accepted") return [];
  const text = event.data.messages[0]?.content ?? "";
  return text.startsWith("The webhook") ? [{ kind: "accepted", text }] : [];
}

/** Every turn is completed, and every call that waited has what arrived for it as its only result. */
function expectHeardOnce(log: AgentEvent[]): void {
  expect(log.flatMap((event) => (event.type === "agent.error" ? [event.data] : []))).toEqual([]);
  for (const event of log) {
    if (event.type !== "continuation.resolved") continue;
    const { callId, value } = event.data;
    const { id } = (value as { body: { id: string } }).body;
    const results = log.flatMap((other) =>
      other.type === "tool.output" && other.data.callId === callId ? [other.data.output] : [],
    );
    expect(results).toEqual([expect.stringContaining(`"${id}"`)]);
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
