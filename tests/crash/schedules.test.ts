import type { AgentEvent, Schedule, ScheduleRun } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findMain } from "../kit/processes.ts";
import { createRandom, type Random } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

const kills = getRepeatCount("kills", { sample: 8, full: 100 });
/** A schedule keeps 100 runs, and each kill takes a few seconds. */
const killsPerLook = 8;

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    config: {
      maxFailuresPerMinute: 100_000,
      sandboxSlots: 1,
      turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 },
    },
    scripts: { echo: [{ steps: [{ text: "You said: {{ message }}" }] }] },
  });
}, 60_000);

afterAll(() => testbed?.stop());

interface Subject {
  /** Where the schedule is: at the agent, or at its agency. */
  at: string;
  agent: TestAgent;
  schedule: Schedule;
  runs: Map<string, ScheduleRun>;
}

test(
  `each due time of a schedule runs once or is missed, as its policy says, over ${kills} kills`,
  async () => {
    const random = createRandom("schedules");
    const subjects = await Promise.all([
      openSubject({ missed: "skip" }),
      openSubject({ missed: "once" }),
      openSubject({ missed: "all" }),
      openSubject({ missed: "all", overlap: "skip" }),
      openSubject({ missed: "all" }, "/agency/global"),
    ]);
    let killed = 0;
    for (let kill = 1; kill <= kills; kill++) {
      const main = await waitUntil("main to run", () => findMain(testbed.home, killed));
      // No request wakes the agents: what is due has to.
      await new Promise((resolve) => setTimeout(resolve, random.below(1500)));
      process.kill(main.pid, "SIGKILL");
      killed = main.pid;
      if (random.chance(0.2)) await takeDown(random);
      if (kill % killsPerLook === 0) for (const subject of subjects) await readRuns(subject);
    }
    await waitUntil("main to run", () => findMain(testbed.home, killed));
    for (const subject of subjects) await check(subject);
    const all = subjects.flatMap(({ runs }) => [...runs.values()]);
    const ran = all.filter(({ status }) => status === "ran").length;
    console.log(`${ran} runs and ${all.length - ran} missed times over ${kills} kills`);
  },
  Math.max(120_000, kills * 8_000),
);

/** Lets some times pass without a host. */
async function takeDown(random: Random): Promise<void> {
  await testbed.stopHost();
  await new Promise((resolve) => setTimeout(resolve, 1500 + random.below(2500)));
  await testbed.startHost();
}

async function openSubject(options: object, at?: string): Promise<Subject> {
  const agent = await testbed.newAgent({ model: "scripted:echo" });
  const place = at ?? agent.at;
  const body = { when: { every: 1 }, input: "Tick", ...options, ...(at ? { agent: agent.name } : {}) };
  const { status, body: schedule } = await testbed.api(`${place}/schedules`, "POST", body);
  expect(status).toBe(201);
  return { at: place, agent, schedule, runs: new Map() };
}

/** Collects the runs, which are deleted when there are too many. */
async function readRuns({ at, schedule, runs }: Subject): Promise<ScheduleRun[]> {
  const path = `${at}/schedules/${schedule.id}/runs`;
  const page = await waitUntil("the runs", async () => {
    const { status, body } = await testbed.api(path);
    return status === 200 && (body.runs as ScheduleRun[]);
  });
  for (const run of page) runs.set(run.dueAt, run);
  return page;
}

async function check(subject: Subject): Promise<void> {
  const { at, agent, schedule, runs } = subject;
  const path = `${at}/schedules/${schedule.id}`;
  const paused = await waitUntil("the schedule to be paused", async () => {
    const { status } = await testbed.api(path, "PATCH", { paused: true });
    return status === 200 && Date.now();
  });
  const page = await waitUntil("all runs to be admitted", async () => {
    const latest = await readRuns(subject);
    return latest.every(({ status }) => status !== "pending") && latest;
  });
  expect(new Set(page.map(({ dueAt }) => dueAt)).size).toBe(page.length);

  // Every second is there, from the first to the last before the pause.
  const times = [...runs.values()].flatMap(({ dueAt, until = dueAt }) => listSeconds(dueAt, until));
  const last = times.toSorted().at(-1) ?? "";
  expect(times.toSorted()).toEqual(listSeconds(schedule.nextAt ?? "", last));
  expect(paused - Date.parse(last)).toBeLessThan(3000);

  // Each run has one message, and each message a run.
  const ran = [...runs.values()].filter(({ status }) => status === "ran");
  const accepted = (await agent.log()).filter(
    (event): event is AgentEvent & { type: "request.accepted" } => event.type === "request.accepted",
  );
  const toPair = (dueAt: string, runId: string | undefined) => `schedule:${schedule.id}:${dueAt} ${runId}`;
  expect(accepted.map(({ data }) => `${data.idempotencyKey} ${data.runId}`).toSorted()).toEqual(
    ran.map(({ dueAt, runId }) => toPair(dueAt, runId)).toSorted(),
  );

  const others = [...runs.values()].filter(({ status }) => status !== "ran");
  expect(others.filter(({ status }) => status !== "missed")).toEqual([]);
  if (schedule.missed === "all") expect(others).toEqual([]);
  // A missed time gave way to a newer one that was due as well.
  for (const missed of others)
    expect(ran.some(({ dueAt, at: decidedAt }) => decidedAt === missed.at && dueAt > missed.dueAt)).toBe(true);
}

function listSeconds(from: string, to: string): string[] {
  const count = (Date.parse(to) - Date.parse(from)) / 1000 + 1;
  return Array.from({ length: count }, (_, index) => new Date(Date.parse(from) + index * 1000).toISOString());
}
