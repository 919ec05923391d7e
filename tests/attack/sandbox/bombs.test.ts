import http from "node:http";
import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../../kit/random.ts";
import { readCountOverride, getRepeatCount } from "../../kit/sample.ts";
import type { TestAgent } from "../../kit/worker/testbed.ts";
import { type CodeTestbed, openCodeTestbed } from "./code-testbed.ts";

// Code that exhausts time or memory, on all slots at once, repeatedly. It is ended without affecting others.

const bombCount = getRepeatCount("bombs", { sample: 4, full: 8 });
/** With an explicit count the test has the machine to itself. */
const isAlone = readCountOverride("bombs") !== undefined;
/** The default of a host. */
const slots = 2;
/**
 * Timeouts passed to `executeCode`. A bomb of many small objects keeps the garbage collector busy for seconds until the
 * memory limit ends it, and slots yield to everything else: on a busy machine that took 45 s. It must end by its memory.
 */
const timeoutsMs = { spin: 400, memory: 300_000 };

interface Bomb {
  code: string[];
  timeoutMs: number;
  /** The expected error: its kind and message. */
  expected: RegExp;
}

const bombs: Record<string, Bomb> = {
  "busy loops": {
    code: [
      "for (;;);",
      "while (true) JSON.stringify([1, 2, 3]);",
      "/^(a+)+$/.test('a'.repeat(64) + 'b');",
      "for (;;) await null;",
      "[1, 2].sort(() => { for (;;); });",
    ],
    timeoutMs: timeoutsMs.spin,
    expected: /^timeout: The run did not finish within 400 ms and was stopped\.$/,
  },
  "heap bombs": {
    code: [
      "const all = []; for (;;) all.push(new Array(1e6).fill(0.5));",
      "const all = new Map(); for (;;) all.set({}, new Array(1e5).fill(0.5));",
      "const all = []; for (let i = 0; ; i++) all.push('x'.repeat(1e6) + i, [...'y'.repeat(1e5)]);",
      "const all = []; for (;;) all.push(Array.from({ length: 1e5 }, (_, i) => ({ i })));",
    ],
    timeoutMs: timeoutsMs.memory,
    expected: /^limit: The run exceeded its memory limit/,
  },
  "buffer bombs": {
    code: [
      "const all = []; for (;;) all.push(new Uint8Array(64 * 1024 * 1024).fill(1));",
      "const all = []; for (;;) all.push(new ArrayBuffer(128 * 1024 * 1024));",
      "return new Float64Array(2 ** 29);",
      "const all = []; for (;;) all.push(new Uint8Array(1024 * 1024));",
    ],
    timeoutMs: timeoutsMs.memory,
    // The code may catch this, unless the process itself runs out of memory.
    expected: /^(?:threw: RangeError: Array buffer allocation failed|limit: The run exceeded its memory limit)/,
  },
  // These put load on the process that answers the calls, not on their own.
  "call floods": {
    code: [
      "await Promise.allSettled(Array.from({ length: 3000 }, (_, i) => echo(i))); return 1;",
      "const deep = JSON.parse('['.repeat(1e6) + ']'.repeat(1e6)); for (let i = 0; i < 3; i++) await echo(deep).catch(() => {}); return 1;",
      "const wide = Object.fromEntries(Array.from({ length: 3e5 }, (_, i) => ['k' + i, 1])); for (let i = 0; i < 3; i++) await echo(wide).catch(() => {}); return 1;",
      "const long = 'x'.repeat(4e6); for (let i = 0; i < 10; i++) await echo(long).catch(() => {}); return 1;",
    ],
    timeoutMs: timeoutsMs.memory,
    expected: /^(?:ok: 1(?:\n|$)|limit: |timeout: )/,
  },
};

let testbed: CodeTestbed;
let attackers: TestAgent[];
let bystanders: TestAgent[];

beforeAll(async () => {
  testbed = await openCodeTestbed({
    slots,
    sandbox: { memoryMb: 64, stallTimeoutSeconds: 300 },
    options: [{ timeoutMs: timeoutsMs.spin }, { timeoutMs: timeoutsMs.memory }],
    scripts: {
      plan: [
        {
          steps: [
            { call: { tool: "write_todos", input: { todos: [{ content: "{{ message }}", status: "pending" }] } } },
            { text: "Planned {{ message }}." },
          ],
        },
      ],
    },
  });
  attackers = await Promise.all(Array.from({ length: slots }, () => testbed.newCodeAgent()));
  bystanders = await Promise.all(Array.from({ length: 3 }, () => testbed.newAgent({ model: "scripted:plan" })));
  // Warm up: the host's first run and turn take longer.
  await Promise.all([
    ...attackers.map((agent) => testbed.run(agent, "return await echo(1)")),
    ...bystanders.map((agent) => agent.say("first")),
  ]);
});

afterAll(() => testbed?.stop());

test.for(Object.entries(bombs))(
  `${bombCount} %s end within twice their timeout without affecting others`,
  { timeout: 900_000 },
  async ([kind, bomb]) => {
    const nextCode = createRandom(`sandbox bombs “${kind}”`).deck(bomb.code);
    let isOver = false;
    const turnCounts = bystanders.map((agent) => runTurns(agent, () => isOver));
    const failures: unknown[] = [];
    let next = 0;
    const attack = async (agent: TestAgent) => {
      for (let number = next++; number < bombCount; number = next++) {
        const { outcome, share } = await explode(agent, nextCode(), bomb.timeoutMs);
        if (!bomb.expected.test(outcome) || !(share <= 2))
          failures.push({ number, outcome: outcome.slice(0, 300), share });
      }
    };
    const times = await measurePings(`${testbed.host().url}/health`, Promise.all(attackers.map(attack)));
    isOver = true;
    const turns = await Promise.all(turnCounts);
    expect(failures).toEqual([]);
    // With other tests running, 1% of the pings may be late for any reason, but not half of them.
    expect(quantile(times, isAlone ? 0.99 : 0.5)).toBeLessThan(100);
    // Nobody waited for the bombs: each bystander completed more turns than one slot had bombs.
    expect(Math.min(...turns)).toBeGreaterThan(bombCount / slots);
    expect((await testbed.api("/health")).body).toMatchObject({ status: "ok", restarts: 0 });
  },
);

/**
 * Runs a bomb. `share` is its run time relative to its timeout, measured from its first call; 0 if it ended before that,
 * as on a busy machine.
 */
async function explode(agent: TestAgent, code: string, timeoutMs: number) {
  const { kind, text, events } = await testbed.run(agent, `await echo("begun"); ${code}`, { timeoutMs });
  const at = (...types: AgentEvent["type"][]) =>
    Date.parse(String(events.find(({ type }) => types.includes(type))?.ts));
  const share = (at("tool.output", "tool.error") - at("capability.called")) / timeoutMs;
  return { outcome: `${kind}: ${text}`, share: Number.isNaN(share) ? 0 : share };
}

/** Runs turns one after the other, each of which has to complete. Returns their number. */
async function runTurns(agent: TestAgent, hasEnded: () => boolean): Promise<number> {
  let turns = 0;
  while (!hasEnded()) {
    const { body, status } = await testbed.api("/serve", "POST", { agent: agent.name, message: `turn ${turns}` });
    if (status !== 200 || body.content !== `Planned turn ${turns}.`)
      throw new Error(`${status}: ${JSON.stringify(body)}`);
    turns++;
    // Bystanders should not load the host themselves.
    await pause(150);
  }
  return turns;
}

/** Sends a hundred requests per second until the work is done. Returns the response times. */
async function measurePings(url: string, work: Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  const agent = new http.Agent({ keepAlive: true, maxSockets: 20 });
  const open = new Set<Promise<void>>();
  const ping = () =>
    new Promise<void>((resolve, reject) => {
      const startedAt = performance.now();
      const request = http.get(url, { agent }, (response) => {
        response.resume();
        response.once("end", () => {
          times.push(performance.now() - startedAt);
          resolve();
        });
      });
      request.once("error", reject);
    });
  const timer = setInterval(() => {
    const pinging = ping();
    open.add(pinging);
    pinging.then(
      () => open.delete(pinging),
      () => {},
    );
  }, 10);
  try {
    await work;
  } finally {
    clearInterval(timer);
  }
  await Promise.all(open);
  agent.destroy();
  return times;
}

function quantile(values: number[], at: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * at)] ?? NaN;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
