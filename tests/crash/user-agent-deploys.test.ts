import type { Health } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { getRepeatCount } from "../kit/sample.ts";
import { ask, deployAgent, describeCode } from "../kit/user-agent.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// New versions of a package while its agents talk. No turn is lost, each answer is of one version, and the agents of
// other packages keep what they have in memory.

const deploys = getRepeatCount("user agent deploys", { sample: 15, full: 100 });
const talkers = 10;
/** Isolates per process. One more is loaded for each agent and version. */
const maxIsolates = 80;
const memoryMb = 128;

let testbed: Testbed;
let client: Client;

beforeAll(async () => {
  testbed = await openTestbed({
    config: {
      maxFailuresPerMinute: 1000,
      sandboxSlots: 0,
      agentSlots: 4,
      sandbox: { memoryMb },
      turn: { heartbeatSeconds: 1 },
    },
  });
  client = testbed.host().client;
});

afterAll(() => testbed?.stop());

/** Says its version before and after a tool call and a while. */
const versionedCode = (version: number) => `
const version = ${version};
const keep = new Uint8Array(200_000).fill(version);
export default defineAgent({
  state: { turns: 0 },
  async onMessage(message, ctx) {
    ctx.setState({ turns: ctx.state.turns + 1 });
    const reply = ctx.reply();
    reply.write(version + " ");
    await ctx.tools.execute("ring_again", { bell: "${testbed.bell.url}", id: message.content });
    await new Promise((resolve) => setTimeout(resolve, 10));
    reply.write(version + " " + ctx.state.turns + " " + keep.length);
  },
});`;

const counterCode = `
let count = 0;
export default defineAgent({ onMessage: (message, ctx) => ctx.send(String(++count)) });`;

test(
  `${deploys} deploys while ${talkers} agents talk lose no turn, mix no versions and leave others alone`,
  async () => {
    const deploy = (version: number) =>
      deployAgent(client, "versioned", versionedCode(version), { capabilities: ["tools"], createAgent: false });
    await deploy(1);
    await deployAgent(client, "counter", counterCode);
    const names = Array.from({ length: talkers }, (_, index) => `talker-${index}`);
    for (const name of names) await client.agents().create({ name, blueprint: "versioned" });

    let isOver = false;
    /** The latest version that each agent answered with. */
    const latest = new Map<string, number>();
    const talking = names.map(async (name) => {
      let turns = 0;
      while (!isOver) {
        const content = await ask(client, name, `${name} ${++turns}`);
        const [version = 0, ...rest] = content.split(" ").map(Number);
        expect([name, content, rest]).toEqual([name, content, [version, turns, 200_000]]);
        expect([name, version >= (latest.get(name) ?? 0)]).toEqual([name, true]);
        latest.set(name, version);
      }
      return turns;
    });

    let counts = 0;
    /** How often the counter began anew because its process was replaced. */
    let resets = 0;
    const peaks = { memoryBytes: 0, isolates: 0 };
    const counting = (async () => {
      for (let last = 0; !isOver; counts++) {
        const count = Number(await ask(client, "counter"));
        expect([count, last + 1]).toContain(count);
        if (count !== last + 1) {
          expect(count).toBe(1);
          resets++;
        }
        last = count;
        const { sandboxes = [] } = (await testbed.api("/health")).body as Health;
        peaks.memoryBytes = Math.max(peaks.memoryBytes, ...sandboxes.map(({ memoryBytes = 0 }) => memoryBytes));
        peaks.isolates = Math.max(peaks.isolates, (await describeCode(client, "counter")).process?.agents ?? 0);
      }
    })();

    const failed = Promise.all([...talking, counting]).then(() => undefined);
    for (let version = 2; version <= deploys + 1; version++) {
      // As long as all versions fit into a process, it is not replaced.
      if (version === Math.floor(maxIsolates / talkers) - 2) expect(resets).toBe(0);
      expect((await deploy(version)).version).toBe(version);
      const isAdopted = () => names.every((name) => latest.get(name) === version);
      await Promise.race([waitUntil(`all agents to run version ${version}`, isAdopted), failed]);
    }
    isOver = true;
    const turns = await Promise.all(talking);
    await counting;

    expect(Math.min(...turns)).toBeGreaterThanOrEqual(deploys);
    expect(counts).toBeGreaterThan(deploys);
    for (const [index, name] of names.entries()) {
      const { messages } = await client.agent(name).messages({ limit: 500 });
      const incomplete = messages.filter(({ status }) => status !== "complete");
      expect([name, incomplete]).toEqual([name, []]);
      // Processes are replaced between turns.
      const { body } = await testbed.api(`/agents/${name}/export`);
      const types = (body.events as { type: string }[]).map(({ type }) => type);
      expect([name, types.filter((type) => type === "agent.completed").length]).toEqual([name, turns[index]]);
      expect([name, types.includes("reply.discarded")]).toEqual([name, false]);
    }
    const rings = testbed.bell.rings.map(({ id }) => id);
    expect(rings.length).toBe(turns.reduce((sum, count) => sum + count, 0));
    expect(new Set(rings).size).toBe(rings.length);
    expect(peaks.isolates).toBeLessThanOrEqual(maxIsolates);
    expect(peaks.memoryBytes).toBeLessThan(2 * (2 * memoryMb) * 1024 * 1024);
    expect(resets).toBeLessThanOrEqual(Math.ceil(((deploys + 1) * talkers) / maxIsolates) + 1);
    expect((await testbed.api("/health")).body).toMatchObject({ restarts: 0 });
    console.log(
      `${rings.length} turns, ${counts} counts with ${resets} new processes; at most ${peaks.isolates} isolates and ${Math.round(peaks.memoryBytes / 1024 / 1024)} MB`,
    );
  },
  Math.max(120_000, deploys * 6_000),
);
