import type { BudgetStatus } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom, type Random } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed, turnEndTypes } from "../kit/worker/testbed.ts";

// Kills main while an agent has sub-agents at work. Whatever the moment, each reports once and every turn ends.

const kills = getRepeatCount("subagent kills", { sample: 12, full: 100 });

const task = (description: string) => ({ tool: "task", input: { description } });
const words = "one two three four five six seven eight nine ten";
const jobs = ["talk", "write", "nest"] as const;

let testbed: Testbed;
let blueprint: string;

beforeAll(async () => {
  testbed = await openTestbed({
    config: {
      maxFailuresPerMinute: 100_000,
      sandboxSlots: 0,
      model: "scripted:parent",
      models: { fast: "scripted:child" },
      turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
      subagents: { maxActive: 5, initialCheckSeconds: 2, checkIntervalSeconds: 2 },
    },
    scripts: {
      parent: Array.from({ length: 8 }, (_, count) => ({
        when: `/^delegate ${count + 1} /`,
        steps: [
          { calls: Array.from({ length: count + 1 }, (_, index) => task(`${jobs[index % 3]} ${index}`)) },
          { text: "All done." },
        ],
      })),
      child: {
        pace: 3,
        exchanges: [
          {
            when: "/^write/",
            steps: [
              { call: { tool: "writeFile", input: { path: "{{ message }}.md", content: "written\n" } } },
              { text: `Wrote it: ${words}.` },
            ],
          },
          { when: "/^nest/", steps: [{ call: task("talk below") }, { text: "Asked: {{ results.0 }}" }] },
          { steps: [{ text: `About {{ message }}: ${words}.` }] },
        ],
      },
    },
  });
  blueprint = await testbed.newBlueprint({ config: { budget: { steps: 500, agent: { tokens: 1_000_000 } } } });
});

afterAll(() => testbed?.stop());

/** When main is killed: when the parent's log has this event, or a moment later. */
const points = ["random", "subagent.spawned", "run.paused", "subagent.completed", "subagent.action", "cancel"] as const;

test(
  `sub-agents survive ${kills} kills of main`,
  async () => {
    const random = createRandom("subagents");
    for (let number = 0; number < kills; number++) await killDuringDelegation(number, random);
  },
  Math.max(150_000, kills * 15_000),
);

async function killDuringDelegation(number: number, random: Random): Promise<void> {
  const point = points[number % points.length] as (typeof points)[number];
  const count = 1 + random.below(8);
  const name = `parent-${number}`;
  const agent = await testbed.newAgent({ name, blueprint });
  const { runId } = await agent.invoke({ message: `delegate ${count} ` });
  if (point === "random") await new Promise((resolve) => setTimeout(resolve, random.below(600)));
  else {
    const awaited = point === "cancel" ? "subagent.spawned" : point;
    // Only a write leaves an action.
    if (awaited !== "subagent.action" || count > 1)
      await waitUntil(awaited, async () => (await agent.log()).some(({ type }) => type === awaited), { intervalMs: 5 });
    if (point === "cancel") await agent.cancel({ runId });
  }
  await testbed.killMain();
  await waitUntil("the next main", async () => (await testbed.api("/health")).status === 200);
  const label = `${name}, killed at ${point}, ${count} sub-agents`;
  const { type } = await agent.waitForEnd(runId, 60_000);
  expect([label, type]).toEqual([label, point === "cancel" ? "run.canceled" : "agent.completed"]);
  await checkAgent(agent, label, point === "cancel");
  await checkBudget(agent, label);
}

/** Counts the tokens in the logs of an agent and of everyone below it. */
async function countTokens(at: string): Promise<number> {
  const log = await testbed.agentAt(at, at).log();
  let tokens = 0;
  for (const { type, data } of log) {
    if (type === "model.completed") tokens += data.usage.inputTokens + data.usage.outputTokens;
    if (type !== "subagent.spawned") continue;
    const below = `${at}/sub/${data.facetName}`;
    // One that was cancelled before it started does not exist.
    if ((await testbed.api(`${below}/state`)).status === 200) tokens += await countTokens(below);
  }
  return tokens;
}

/** The agent knows exactly what everyone below it has spent, and nothing stays reserved. */
async function checkBudget({ at }: TestAgent, label: string): Promise<void> {
  const spent = await countTokens(at);
  expect(spent, label).toBeGreaterThan(0);
  const readBudget = async () => (await testbed.api(`${at}/usage`)).body.budget[0] as BudgetStatus;
  await waitUntil(`${label}: ${spent} tokens to be counted`, async () => (await readBudget()).spent === spent);
  expect(await readBudget(), label).toMatchObject({ spent, reserved: 0 });
}

async function checkAgent(agent: TestAgent, label: string, isCanceled: boolean): Promise<void> {
  const list = async () => (await testbed.api(`${agent.at}/subagents`)).body.subagents as any[];
  await waitUntil(`${label}: everyone to stop`, async () => {
    const events = await agent.log();
    const open = events.filter(({ type, data }) => type === "subagent.completed" && data.unconfirmed);
    return events.filter(({ type }) => type === "subagent.closed").length >= open.length;
  });
  const events = await agent.log();
  const count = (type: string, key: "taskId" | "callId") => {
    const counts = new Map<string, number>();
    for (const event of events) {
      if (event.type !== type) continue;
      const id = (event.data as Record<string, string>)[key] as string;
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  };
  const spawned = count("subagent.spawned", "taskId");
  const once = new Map([...spawned.keys()].map((id) => [id, 1]));
  expect(spawned, label).toEqual(once);
  expect(count("subagent.completed", "taskId"), label).toEqual(once);
  const results = [...count("tool.output", "callId").entries(), ...count("tool.error", "callId").entries()];
  expect(
    results.map(([, n]) => n),
    label,
  ).toEqual(results.map(() => 1));
  if (!isCanceled) expect(results.length, label).toBe(spawned.size);
  for (const { facetName, status } of await list()) {
    expect([label, status]).toEqual([label, isCanceled ? expect.stringMatching(/cancelled|complete/) : "complete"]);
    const child = testbed.agentAt(`${agent.at}/sub/${facetName}`, facetName);
    const log = await child.log().catch(() => []);
    const ends = log.filter((event) => turnEndTypes.includes(event.type));
    expect([label, facetName, ends.length]).toEqual([label, facetName, log.length > 0 ? 1 : 0]);
    if (log.some(({ type }) => type === "subagent.spawned")) await checkAgent(child, `${label}, below`, isCanceled);
  }
  const { tasks } = (await testbed.api(`${agent.at}/tasks`)).body;
  const unfinished = tasks.filter(({ status }: { status: string }) => ["pending", "in_progress"].includes(status));
  expect(unfinished, label).toEqual([]);
}
