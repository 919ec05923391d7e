import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { BudgetStatus, Subagent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hasBubblewrap } from "../kit/has-bubblewrap.ts";
import { createRandom, type Random } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { task } from "../kit/worker/team.ts";
import { openTestbed, type TestAgent, type Testbed, turnEndTypes } from "../kit/worker/testbed.ts";

// Kills main while an agent has sub-agents at work. Whatever the moment, each reports once and every turn ends.

const kills = getRepeatCount("subagent kills", { sample: 9, full: 100 });

const words = "one two three four five six seven eight nine ten";
const jobs = ["talk", "fork", "write", "fork nest", "nest", "fork", "leave", "fork nest"] as const;
const isFork = (job: string) => job.startsWith("fork");
const canCheck = await hasBubblewrap();
/** One of the forks has a check, if there is something to run it in. */
const options = (job: string, index: number) => ({
  ...(isFork(job) ? { workspace: "fork" } : {}),
  ...(index === 5 && canCheck ? { check: "grep -q 'done 5' lines.txt && echo x > artefact.txt" } : {}),
});
const lines = Array.from({ length: 40 }, (_, index) => `line ${index}\n`).join("");
/** The lines are far enough apart that no two changes overlap. */
const changeLine = (job: string, index: number) => ({
  when: `/^${job} ${index}$/`,
  steps: [
    { call: { tool: "readFile", input: { path: "lines.txt" } } },
    {
      call: {
        tool: "editFile",
        input: { path: "lines.txt", oldString: `line ${4 * index}\n`, newString: `done ${index}\n` },
      },
    },
    ...(job === "fork nest" ? [{ call: task(`below ${index}`, { workspace: "fork" }) }] : []),
    { text: `Changed it: ${words}.` },
  ],
});

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
          {
            calls: jobs.slice(0, count + 1).map((job, index) => task(`${job} ${index}`, options(job, index))),
          },
          { text: "All done." },
        ],
      })),
      child: {
        pace: 3,
        exchanges: [
          ...jobs.flatMap((job, index) => (isFork(job) ? [changeLine(job, index)] : [])),
          {
            when: "/^below/",
            steps: [
              { call: { tool: "writeFile", input: { path: "{{ message }}.md", content: "written\n" } } },
              { text: `Wrote it: ${words}.` },
            ],
          },
          {
            when: "/^write/",
            steps: [
              { call: { tool: "writeFile", input: { path: "{{ message }}.md", content: "written\n" } } },
              { text: `Wrote it: ${words}.` },
            ],
          },
          { when: "/^nest/", steps: [{ call: task("talk below") }, { text: "Asked: {{ results.0 }}" }] },
          {
            when: "/^leave/",
            steps: [
              { call: { tool: "createSubtask", input: { title: "talk below" } } },
              { call: { tool: "delegateToSubagent", input: { taskId: "{{ results.0.taskId }}" } } },
              { text: "Left it working." },
            ],
          },
          { steps: [{ text: `About {{ message }}: ${words}.` }] },
        ],
      },
    },
  });
  blueprint = await testbed.newBlueprint({ config: { budget: { steps: 500, agent: { tokens: 1_000_000 } } } });
});

afterAll(() => testbed?.stop());

/** When main is killed: when the parent's log has this event, or a moment later. */
const points = [
  "random",
  "subagent.spawned",
  "subagent.reported",
  "run.paused",
  "subagent.completed",
  "files.changed",
  "subagent.action",
  "cancel",
  "cancel while merging",
] as const;

/** What must have happened before main is killed, or the turn canceled. Only some jobs cause each event. */
function getAwaited(point: (typeof points)[number], count: number): string {
  if (point === "cancel") return "subagent.spawned";
  const awaited = point === "cancel while merging" ? "subagent.reported" : point;
  return count === 1 && ["subagent.reported", "files.changed", "subagent.action"].includes(awaited)
    ? "subagent.spawned"
    : awaited;
}

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
  let isCanceled = false;
  const agent = await testbed.newAgent({ name, blueprint });
  await testbed.api(`${agent.at}/files`, "POST", { edits: [{ write: "lines.txt", content: lines }] });
  const before = (await agent.log()).length;
  const { runId } = await agent.invoke({ message: `delegate ${count} ` });
  if (point === "random") await new Promise((resolve) => setTimeout(resolve, random.below(600)));
  else {
    const awaited = getAwaited(point, count);
    await waitUntil(awaited, async () => (await agent.log()).slice(before).some(({ type }) => type === awaited), {
      intervalMs: 5,
    });
    // It may have been faster.
    if (point.startsWith("cancel")) isCanceled = (await agent.cancel({ runId })).status === "canceled";
  }
  await testbed.killMain();
  await waitUntil("the next main", async () => (await testbed.api("/health")).status === 200);
  const label = `${name}, killed at ${point}, ${count} sub-agents`;
  const { type } = await agent.waitForEnd(runId, 60_000);
  expect([label, type]).toEqual([label, isCanceled ? "run.canceled" : "agent.completed"]);
  await checkAgent(agent, label, isCanceled);
  await checkFiles(agent, label, count, isCanceled);
  await checkBudget(agent, label);
  await checkFacets(agent, label);
}

/** Every facet is a sub-agent that its parent knows, and all of them go with their agent. */
async function checkFacets({ at }: TestAgent, label: string): Promise<void> {
  const listFacets = () =>
    readdirSync(join(testbed.home, "objects", "think")).filter((file) => /^[0-9a-f]{64}\.\d+\.sqlite$/.test(file));
  const known = await countSubagents(at);
  expect([label, listFacets().length]).toEqual([label, known]);
  expect((await testbed.api(at, "DELETE")).status, label).toBe(204);
  await waitUntil(`${label}: all facets to go`, () => listFacets().length === 0);
}

/** Counts the sub-agents below an agent that exist. One that was cancelled before it started does not. */
async function countSubagents(at: string): Promise<number> {
  let count = 0;
  for (const { facetName } of (await testbed.api(`${at}/subagents`)).body.subagents as Subagent[]) {
    const below = `${at}/sub/${facetName}`;
    if ((await testbed.api(`${below}/state`)).status === 200) count += 1 + (await countSubagents(below));
  }
  return count;
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

/** Every fork was merged once and its branch is gone, unless it was cancelled with something on it. */
async function checkFiles({ at }: TestAgent, label: string, count: number, isCanceled: boolean): Promise<void> {
  const { versions } = (await testbed.api(`${at}/versions?limit=200`)).body as { versions: { merges?: string }[] };
  const merges = versions.flatMap(({ merges }) => merges ?? []);
  expect(new Set(merges).size, label).toBe(merges.length);
  if (isCanceled) return;
  await waitUntil(`${label}: the branches to go`, async () => {
    const { branches } = (await testbed.api(`${at}/branches`)).body;
    return branches.length === 0;
  });
  const { body: text } = await testbed.api(`${at}/files/lines.txt`);
  const { files } = (await testbed.api(`${at}/files`)).body as { files: { path: string }[] };
  const subagents = (await testbed.api(`${at}/subagents`)).body.subagents as Subagent[];
  let rest = text as string;
  for (const [index, job] of jobs.slice(0, count).entries()) {
    if (!isFork(job)) continue;
    const { facetName, merge } = subagents.find(({ title }) => title === `${job} ${index}`) as Subagent;
    const child = testbed.agentAt(`${at}/sub/${facetName}`, facetName);
    const isEdited = await hasDone(child, "editFile");
    expect([label, job, merge?.isMerged, merge?.overlaps]).toEqual([label, job, true, []]);
    // An edit that was cut off is not repeated, so nobody knows whether it was made.
    if (isEdited)
      expect([label, text, merges]).toEqual([
        label,
        expect.stringContaining(`done ${index}\n`),
        expect.arrayContaining([facetName]),
      ]);
    rest = rest.replace(`done ${index}\n`, `line ${4 * index}\n`);
    if (job !== "fork nest") continue;
    const [below] = (await testbed.api(`${child.at}/subagents`)).body.subagents as Subagent[];
    const isWritten = below && (await hasDone(testbed.agentAt(`${child.at}/sub/${below.facetName}`, ""), "writeFile"));
    if (isWritten)
      expect(
        files.map(({ path }) => path),
        label,
      ).toContain(`below ${index}.md`);
  }
  expect(rest, label).toBe(lines);
  expect(
    files.map(({ path }) => path),
    label,
  ).not.toContain("artefact.txt");
}

const hasDone = async (agent: TestAgent, tool: string) =>
  (await agent.log()).some(({ type, data }) => type === "tool.output" && data.toolName === tool);

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
  const reports = events.filter(
    ({ type, data }) => (type === "tool.output" || type === "tool.error") && data.toolName === "task",
  );
  const waited = events.filter(({ type, data }) => type === "subagent.spawned" && data.wait);
  if (!isCanceled) expect(reports.length, label).toBe(waited.length);
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
