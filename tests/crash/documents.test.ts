import { afterAll, beforeAll, expect, test } from "vitest";
import { findMain } from "../kit/processes.ts";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed, turnEndTypes } from "../kit/worker/testbed.ts";

const kills = getRepeatCount("document-kills", { sample: 15, full: 150 });
const writers = 3;
const appendsPerTurn = 5;
const timeoutMs = 60_000;

let testbed: Testbed;

beforeAll(async () => {
  const append = (line: number) => ({
    call: { tool: "team_doc_append", input: { name: "log.md", content: `{{ message }} ${line}\n` } },
  });
  testbed = await openTestbed({
    config: {
      maxFailuresPerMinute: 100_000,
      sandboxSlots: 0,
      turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
    },
    scripts: {
      appender: [{ steps: [...Array.from({ length: appendsPerTurn }, (_, line) => append(line)), { text: "Done." }] }],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

test(
  `over ${kills} kills of main, each line that agents append to a document is in it once`,
  async () => {
    const random = createRandom("documents");
    await testbed.host().client.documents().write("log.md", "");
    const agents = await Promise.all(
      Array.from({ length: writers }, () => testbed.newAgent({ model: "scripted:appender" })),
    );
    const messages: string[] = [];
    let ended = 0;
    let isOver = false;

    async function write(agent: TestAgent): Promise<void> {
      for (let turn = 0; !isOver; turn++) {
        const message = `${agent.name}-${turn}`;
        messages.push(message);
        const runId = await waitUntil("the admission", () => admit(agent, message), { timeoutMs });
        const end = await waitUntil("the end of the turn", () => findEnd(agent, runId), { timeoutMs });
        expect([message, end]).toEqual([message, "agent.completed"]);
        ended++;
      }
    }

    const writing = Promise.all(agents.map(write));
    let killed = 0;
    for (let kill = 0; kill < kills; kill++) {
      const before = ended;
      // Every other kill may hit a turn that an earlier one interrupted.
      if (kill % 2 === 0) await waitUntil("the end of a turn", () => ended > before, { timeoutMs });
      const main = await waitUntil("main to run", () => findMain(testbed.home, killed));
      await new Promise((resolve) => setTimeout(resolve, random.below(150)));
      process.kill(main.pid, "SIGKILL");
      killed = main.pid;
    }
    isOver = true;
    await writing;

    const { client } = testbed.host();
    const lines = (await client.documents().read("log.md")).text().trimEnd().split("\n");
    const expected = messages.flatMap((message) =>
      Array.from({ length: appendsPerTurn }, (_, line) => `${message} ${line}`),
    );
    expect(lines.toSorted()).toEqual(expected.toSorted());
    // Each agent appends in its own order.
    for (const { name } of agents)
      expect(lines.filter((line) => line.startsWith(`${name}-`))).toEqual(
        expected.filter((line) => line.startsWith(`${name}-`)),
      );
    console.log(`${lines.length} lines by ${ended} turns over ${kills} kills`);
  },
  Math.max(120_000, kills * 8_000),
);

/** Admits a message. Returns undefined if the host is restarting; the same message again is the same turn. */
async function admit(agent: TestAgent, message: string): Promise<string | undefined> {
  try {
    return (await agent.invoke({ message, idempotencyKey: message })).runId;
  } catch {
    return undefined;
  }
}

async function findEnd(agent: TestAgent, runId: string): Promise<string | undefined> {
  try {
    const end = (await agent.log()).find(
      ({ type, data }) => turnEndTypes.includes(type) && "runId" in data && data.runId === runId,
    );
    return end?.type;
  } catch {
    return undefined;
  }
}
