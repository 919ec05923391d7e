import http from "node:http";
import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../../kit/random.ts";
import { readCountOverride, getRepeatCount } from "../../kit/sample.ts";
import type { TestAgent } from "../../kit/worker/testbed.ts";
import { type CodeTestbed, openCodeTestbed } from "./code-testbed.ts";

// Code that takes all it can get, on every slot at once, again and again. It is ended; nobody else notices.

const each = getRepeatCount("bombs", { sample: 4, full: 8 });
/** Whoever asks for a number of bombs has the machine to themselves. */
const isAlone = readCountOverride("bombs") !== undefined;
/** As many as a host has where nobody says otherwise. */
const slots = 2;
/** What `executeCode` is given as its limit. */
const limits = { spin: 400, memory: 60_000 };

interface Bomb {
  code: string[];
  timeoutMs: number;
  /** How it has to end: its kind, and what that says. */
  ends: RegExp;
}

const bombs: Record<string, Bomb> = {
  spins: {
    code: [
      "for (;;);",
      "while (true) JSON.stringify([1, 2, 3]);",
      "/^(a+)+$/.test('a'.repeat(64) + 'b');",
      "for (;;) await null;",
      "[1, 2].sort(() => { for (;;); });",
    ],
    timeoutMs: limits.spin,
    ends: /^timeout: The run took more than 400 ms and was ended\.$/,
  },
  "heap bombs": {
    code: [
      "const all = []; for (;;) all.push(new Array(1e6).fill(0.5));",
      "const all = new Map(); for (;;) all.set({}, new Array(1e5).fill(0.5));",
      "const all = []; for (let i = 0; ; i++) all.push('x'.repeat(1e6) + i, [...'y'.repeat(1e5)]);",
      "const all = []; for (;;) all.push(Array.from({ length: 1e5 }, (_, i) => ({ i })));",
    ],
    timeoutMs: limits.memory,
    ends: /^limit: The run used more memory than it may have/,
  },
  "bombs of buffers": {
    code: [
      "const all = []; for (;;) all.push(new Uint8Array(64 * 1024 * 1024).fill(1));",
      "const all = []; for (;;) all.push(new ArrayBuffer(128 * 1024 * 1024));",
      "return new Float64Array(2 ** 29);",
      "const all = []; for (;;) all.push(new Uint8Array(1024 * 1024));",
    ],
    timeoutMs: limits.memory,
    // The code may catch it, unless it was the last of the process's own memory.
    ends: /^(?:threw: RangeError: Array buffer allocation failed|limit: The run used more memory than it may have)/,
  },
  // These do not hurt their own process, but whoever answers them.
  "floods of calls": {
    code: [
      "await Promise.allSettled(Array.from({ length: 3000 }, (_, i) => echo(i))); return 1;",
      "const deep = JSON.parse('['.repeat(1e6) + ']'.repeat(1e6)); for (let i = 0; i < 3; i++) await echo(deep).catch(() => {}); return 1;",
      "const wide = Object.fromEntries(Array.from({ length: 3e5 }, (_, i) => ['k' + i, 1])); for (let i = 0; i < 3; i++) await echo(wide).catch(() => {}); return 1;",
      "const long = 'x'.repeat(4e6); for (let i = 0; i < 10; i++) await echo(long).catch(() => {}); return 1;",
    ],
    timeoutMs: limits.memory,
    ends: /^(?:ok: 1(?:\n|$)|limit: |timeout: )/,
  },
};

let coders: CodeTestbed;
let attackers: TestAgent[];
let bystanders: TestAgent[];

beforeAll(async () => {
  coders = await openCodeTestbed({
    slots,
    sandbox: { memoryMb: 64, stallTimeoutSeconds: 60 },
    given: [{ timeoutMs: limits.spin }, { timeoutMs: limits.memory }],
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
  attackers = await Promise.all(Array.from({ length: slots }, () => coders.newCoder()));
  bystanders = await Promise.all(Array.from({ length: 3 }, () => coders.newAgent({ model: "scripted:plan" })));
  // What a host does for the first time takes it longer, and is no bomb's doing.
  await Promise.all([
    ...attackers.map((agent) => coders.run(agent, "return await echo(1)")),
    ...bystanders.map((agent) => agent.say("first")),
  ]);
});

afterAll(() => coders?.stop());

test.for(Object.entries(bombs))(
  `${each} %s end within twice their limit, and nobody else notices`,
  { timeout: 300_000 },
  async ([kind, bomb]) => {
    const nextCode = createRandom(`sandbox bombs “${kind}”`).deck(bomb.code);
    let isOver = false;
    const living = bystanders.map((agent) => runTurns(agent, () => isOver));
    const wrong: unknown[] = [];
    let next = 0;
    const attack = async (agent: TestAgent) => {
      for (let number = next++; number < each; number = next++) {
        const { outcome, share } = await explode(agent, nextCode(), bomb.timeoutMs);
        if (!bomb.ends.test(outcome) || !(share <= 2)) wrong.push({ number, outcome: outcome.slice(0, 300), share });
      }
    };
    const times = await measurePings(`${coders.house().url}/health`, Promise.all(attackers.map(attack)));
    isOver = true;
    const turns = await Promise.all(living);
    expect(wrong).toEqual([]);
    // Beside other tests every hundredth ping may be late for whatever reason; not every other.
    expect(quantile(times, isAlone ? 0.99 : 0.5)).toBeLessThan(100);
    // Nobody waited for the bombs: while one slot had its share of them, each took more turns than that.
    expect(Math.min(...turns)).toBeGreaterThan(each / slots);
    expect((await coders.api("/health")).body).toMatchObject({ status: "ok", restarts: 0 });
  },
);

/** Runs it; `share` is how much of its limit it had, from its first word to its end. Where the machine is busy, it may be over before the first. */
async function explode(agent: TestAgent, code: string, timeoutMs: number) {
  const { kind, text, events } = await coders.run(agent, `await echo("begun"); ${code}`, { timeoutMs });
  const at = (...types: AgentEvent["type"][]) =>
    Date.parse(String(events.find(({ type }) => types.includes(type))?.ts));
  const share = (at("tool.output", "tool.error") - at("capability.called")) / timeoutMs;
  return { outcome: `${kind}: ${text}`, share: Number.isNaN(share) ? 0 : share };
}

/** Takes turns, one after the other, and answers how many there were; each has to complete. */
async function runTurns(agent: TestAgent, ended: () => boolean): Promise<number> {
  let turns = 0;
  while (!ended()) {
    const { body, status } = await coders.api("/serve", "POST", { agent: agent.name, message: `turn ${turns}` });
    if (status !== 200 || body.content !== `Planned turn ${turns}.`)
      throw new Error(`${status}: ${JSON.stringify(body)}`);
    turns++;
    // They are there to be disturbed, not to disturb.
    await pause(150);
  }
  return turns;
}

/** Asks a hundred times a second until the work is done, and answers how long each answer took. */
async function measurePings(url: string, work: Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  const agent = new http.Agent({ keepAlive: true, maxSockets: 20 });
  const open = new Set<Promise<void>>();
  const ping = () =>
    new Promise<void>((resolve, reject) => {
      const begun = performance.now();
      const request = http.get(url, { agent }, (answer) => {
        answer.resume();
        answer.once("end", () => {
          times.push(performance.now() - begun);
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
