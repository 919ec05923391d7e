import type { TaskStatus, TeamTask } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Actor } from "../../packages/runtime/src/agency/actor.ts";
import { createRandom, createSeededRandom, type Random } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";
import { type ModelStep, TeamTaskModel } from "./team-task-model.ts";
import type { StepResult, TeamTaskStep } from "./team-task-steps.ts";

// Random steps of agents and people, against a model that looks at every task for every rule.

const leaseMs = 100_000;
const stepsPerRun = 60;
const runs = getRepeatCount("team task claims", { sample: 25, full: 1500 });

const actors: readonly Actor[] = [
  { kind: "agent", name: "alice" },
  { kind: "agent", name: "bob" },
  { kind: "agent", name: "carol" },
  { kind: "user", name: "ann" },
  { kind: "user", name: "alice" },
];
const agents = ["alice", "bob", "carol"];
const statuses: readonly TaskStatus[] = [
  "complete",
  "complete",
  "failed",
  "cancelled",
  "blocked",
  "pending",
  "in_progress",
];

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("team-tasks.worker.ts", import.meta.url), { objects: ["TaskObject"] });
});

afterAll(() => worker?.stop());

function drawStep(random: Random, count: number, now: number): ModelStep {
  const by = random.pick(actors);
  const some = () => random.shuffle(Array.from({ length: count }, (_, index) => index)).slice(0, random.below(3));
  if (count === 0 || (count < 12 && random.chance(0.2))) return { step: "create", dependencies: some(), now, by };
  const task = random.below(count);
  const agent = random.pick(agents);
  const dice = random.below(20);
  if (dice < 8) return { step: "claim", task, now, by };
  if (dice < 10) return { step: "assign", task, agent, now, by: { kind: "user", name: "ann" } };
  if (dice < 15) return { step: "update", task, status: random.pick(statuses), now, by };
  if (dice < 17) return { step: "depend", task, dependencies: some(), now, by };
  return { step: random.chance(0.8) ? "renew" : "forget", agent, now, by };
}

function toRequest(step: ModelStep, ids: readonly string[]): TeamTaskStep {
  const base = { now: step.now, by: step.by, shows: true };
  const toIds = (tasks: readonly number[]) => tasks.map((task) => ids[task]!);
  switch (step.step) {
    case "create":
      return { ...base, step: "create", task: { title: "t", type: "code", dependencies: toIds(step.dependencies) } };
    case "claim":
      return { ...base, step: "claim", id: ids[step.task]! };
    case "assign":
      return { ...base, step: "assign", id: ids[step.task]!, agent: step.agent };
    case "update":
      return { ...base, step: "update", id: ids[step.task]!, change: { status: step.status } };
    case "depend":
      return { ...base, step: "update", id: ids[step.task]!, change: { dependencies: toIds(step.dependencies) } };
    default:
      return { ...base, step: step.step, agent: step.agent };
  }
}

/** What both sides know about a task. */
const describe = (tasks: readonly TeamTask[]) =>
  tasks.map(({ status, claimedBy, claimedUntil, dependencies }) => ({ status, claimedBy, claimedUntil, dependencies }));

function checkInvariants(tasks: readonly TeamTask[], before: readonly TeamTask[], step: ModelStep): void {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  for (const task of tasks) {
    if (task.status === "in_progress") expect(task.claimedBy).toBeDefined();
    if (task.claimedUntil !== undefined) expect(Date.parse(task.claimedUntil)).toBeGreaterThan(step.now);
    // A task that somebody has just begun to work on waits for nothing.
    const was = before.find(({ id }) => id === task.id);
    if (task.status === "in_progress" && was?.status !== "in_progress")
      expect(task.dependencies.map((id) => byId.get(id)?.status)).toEqual(task.dependencies.map(() => "complete"));
    // A task passes from one holder to another only through being free.
    if (was?.status === "in_progress" && task.status === "in_progress" && was.claimedBy !== task.claimedBy)
      expect(Date.parse(was.claimedUntil ?? "")).toBeLessThanOrEqual(step.now);
  }
}

async function perform(object: string, request: TeamTaskStep): Promise<StepResult> {
  const response = await fetch(`${worker.url}/${object}`, { method: "POST", body: JSON.stringify([request]) });
  return ((await response.json()) as StepResult[])[0]!;
}

/** Performs random steps on both sides, and returns how many of each kind were allowed and refused. */
async function compare(name: string, random: Random): Promise<string[]> {
  const model = new TeamTaskModel(leaseMs);
  const ids: string[] = [];
  const kinds: string[] = [];
  const log: ModelStep[] = [];
  let before: TeamTask[] = [];
  let now = 1_000_000;
  for (let count = 0; count < stepsPerRun; count++) {
    now += random.chance(0.3) ? random.below(leaseMs) : random.below(1000);
    const step = drawStep(random, ids.length, now);
    log.push(step);
    const isAllowed = isDone(() => model.perform(step));
    const { result, refused, tasks = [] } = await perform(name, toRequest(step, ids));
    if (step.step === "create" && result) ids.push(result.id);
    const expected = model.tasks.map(({ status, holder, until, dependencies }) => ({
      status,
      claimedBy: holder?.name,
      claimedUntil: until === undefined ? undefined : new Date(until).toISOString(),
      dependencies: dependencies.map((task) => ids[task]),
    }));
    expect(
      { isAllowed: refused === undefined, tasks: describe(tasks) },
      JSON.stringify({ name, log, refused }),
    ).toEqual({
      isAllowed,
      tasks: expected,
    });
    checkInvariants(tasks, before, step);
    before = tasks;
    kinds.push(`${step.step} ${isAllowed ? "allowed" : "refused"}`);
  }
  return kinds;
}

function isDone(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

test("claims, ends, expiries and renewals in random order do what the model does", async () => {
  const { seed } = createRandom("team task claims");
  const names = Array.from({ length: runs }, (_, index) => `run-${index}`);
  const kinds: string[] = [];
  const compareNext = async () => {
    for (let name = names.shift(); name !== undefined; name = names.shift())
      kinds.push(...(await compare(name, createSeededRandom(seed, name))));
  };
  await Promise.all(Array.from({ length: 8 }, compareNext));
  for (const kind of ["claim", "assign", "update", "depend"])
    for (const outcome of ["allowed", "refused"])
      expect([kind, outcome, kinds.filter((seen) => seen === `${kind} ${outcome}`).length > 20]).toEqual([
        kind,
        outcome,
        true,
      ]);
}, 600_000);
