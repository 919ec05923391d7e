import type { TaskChange, TeamTask } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";
import type { StepResult, TeamTaskStep } from "./team-task-steps.ts";

// Claims are for 100 seconds here, and the test says what time it is.

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("team-tasks.worker.ts", import.meta.url), { objects: ["TaskObject"] });
});

afterAll(() => worker?.stop());

const alice = { kind: "agent", name: "alice" } as const;
const bob = { kind: "agent", name: "bob" } as const;
const ann = { kind: "user", name: "ann" } as const;
/** A person may have the name of an agent. */
const otherAlice = { kind: "user", name: "alice" } as const;
const at = (seconds: number) => new Date(seconds * 1000).toISOString();

function openTasks(object: string) {
  const run = async (step: TeamTaskStep): Promise<StepResult> => {
    const response = await fetch(`${worker.url}/${object}`, { method: "POST", body: JSON.stringify([step]) });
    if (!response.ok) throw new Error(await response.text());
    return ((await response.json()) as StepResult[])[0]!;
  };
  const perform = async (step: TeamTaskStep) => {
    const { result, refused } = await run(step);
    if (refused) throw new Error(`${refused.code}: ${refused.message}`);
    return result;
  };
  return {
    run,
    perform,
    create: (title: string, fields: object = {}): Promise<TeamTask> =>
      perform({ step: "create", task: { title, type: "code", ...fields } }),
    claim: (id: string, by: TeamTaskStep["by"] & object, now = 0): Promise<TeamTask> =>
      perform({ step: "claim", id, by, now: now * 1000 }),
    update: (id: string, change: TaskChange, by: TeamTaskStep["by"] & object = ann, now = 0): Promise<TeamTask> =>
      perform({ step: "update", id, change, by, now: now * 1000 }),
    read: async (id: string, now = 0): Promise<TeamTask> => {
      const { tasks } = await perform({ step: "list", query: { status: "all", limit: 500 }, now: now * 1000 });
      return tasks.find((task: TeamTask) => task.id === id);
    },
  };
}

test("an agent's claim is exclusive until it ends, and then anybody may claim the task", async () => {
  const { create, claim } = openTasks("lease");
  const { id } = await create("Build it");
  expect(await claim(id, alice)).toMatchObject({
    status: "in_progress",
    createdBy: "ann",
    claimedBy: "alice",
    claimedUntil: at(100),
    startedAt: 0,
  });
  for (const by of [bob, ann, otherAlice])
    await expect(claim(id, by, 99)).rejects.toThrow(`conflict: Task “${id}” is claimed by alice until ${at(100)}.`);
  expect(await claim(id, bob, 100)).toMatchObject({ claimedBy: "bob", claimedUntil: at(200), startedAt: 100_000 });
});

test("the holder that claims again renews its claim", async () => {
  const { create, claim, run } = openTasks("again");
  const { id } = await create("Build it");
  await claim(id, alice);
  const { result, changed } = await run({ step: "claim", id, by: alice, now: 60_000 });
  expect(result).toMatchObject({ claimedUntil: at(160), startedAt: 0 });
  expect(changed).toEqual([result]);
});

test("the claim of a person has no end", async () => {
  const { create, claim, perform, read } = openTasks("person");
  const { id } = await create("Decide");
  const task = await claim(id, ann);
  expect(task.claimedBy).toBe("ann");
  expect(task).not.toHaveProperty("claimedUntil");
  expect(await perform({ step: "holders" })).toEqual([]);
  await expect(claim(id, alice, 1_000_000)).rejects.toThrow(`conflict: Task “${id}” is claimed by ann.`);
  expect((await read(id, 1_000_000)).status).toBe("in_progress");
});

test("an expired claim is noticed when tasks are read, and when it is due", async () => {
  const { create, claim, perform, run, read } = openTasks("expired");
  const [one, two] = [await create("one"), await create("two")];
  await claim(one.id, alice, 0);
  await claim(two.id, alice, 10);
  expect(await perform({ step: "holders" })).toEqual([{ agent: "alice", askAt: 80_000, until: 100_000 }]);
  expect(await read(one.id, 105)).toEqual(one);
  expect(await perform({ step: "holders" })).toEqual([{ agent: "alice", askAt: 90_000, until: 110_000 }]);
  const { changed } = await run({ step: "expire", now: 110_000 });
  expect(changed).toEqual([two]);
  expect(await perform({ step: "holders" })).toEqual([]);
});

test("renewing writes once a fifth of the claim has passed, and goes on with what ended unnoticed", async () => {
  const { create, claim, run, read } = openTasks("renew");
  const [one, two, other] = [await create("one"), await create("two"), await create("other")];
  await claim(one.id, alice, 0);
  await claim(two.id, alice, 10);
  await claim(other.id, bob, 0);
  const renew = async (seconds: number) => {
    const { changed } = await run({ step: "renew", agent: "alice", now: seconds * 1000 });
    return changed.map(({ title, status, claimedUntil }) => [title, status, claimedUntil]);
  };
  expect(await renew(20)).toEqual([]);
  expect(await renew(21)).toEqual([["one", "in_progress", at(121)]]);
  expect(await renew(31)).toEqual([["two", "in_progress", at(131)]]);
  expect((await read(other.id, 31)).claimedUntil).toBe(at(100));
  expect(await renew(140)).toEqual([
    ["one", "in_progress", at(240)],
    ["two", "in_progress", at(240)],
    ["other", "pending", undefined],
  ]);
  await run({ step: "expire", now: 250_000 });
  expect(await renew(250)).toEqual([]);
  expect((await read(one.id, 250)).status).toBe("pending");
});

test("only its holder or a person ends a task", async () => {
  const { create, claim, update } = openTasks("holder");
  const { id } = await create("Build it");
  const end = { status: "complete", result: "Built." } as const;
  await expect(update(id, end, alice)).rejects.toThrow(
    `conflict: You do not hold task “${id}”, which is pending. An agent can only end what it has claimed.`,
  );
  await claim(id, alice);
  await expect(update(id, end, bob)).rejects.toThrow(
    `conflict: Task “${id}” is claimed by alice until ${at(100)}. Only they or a person can change it.`,
  );
  await expect(update(id, end, alice, 100)).rejects.toThrow("You do not hold task");
  await claim(id, alice, 100);
  const done = await update(id, end, alice, 150);
  expect(done).toMatchObject({ status: "complete", result: "Built.", claimedBy: "alice", completedAt: 150_000 });
  expect(done).not.toHaveProperty("claimedUntil");
  const other = await create("Test it");
  await claim(other.id, alice);
  expect(await update(other.id, { status: "failed", error: "No time." }, ann)).toMatchObject({
    status: "failed",
    error: "No time.",
    claimedBy: "alice",
  });
});

test("a repeated change of the holder or a person changes nothing, and that of others is refused", async () => {
  const { create, claim, update, run } = openTasks("repeated");
  const { id } = await create("Build it");
  await claim(id, alice);
  const change = { status: "complete", result: "Built." } as const;
  const done = await update(id, change, alice, 5);
  for (const by of [alice, ann])
    expect(await run({ step: "update", id, change, by, now: 9000 })).toMatchObject({ result: done, changed: [] });
  await expect(update(id, change, bob)).rejects.toThrow(`You do not hold task “${id}”, which is complete.`);
  await expect(update(id, { ...change, result: "Rebuilt." }, alice)).rejects.toThrow(
    `conflict: Task “${id}” is already complete.`,
  );
  await expect(claim(id, alice)).rejects.toThrow(`conflict: Task “${id}” is already complete.`);
});

test("a person releases a task, starts one, and holds one back", async () => {
  const { create, claim, update } = openTasks("release");
  const { id } = await create("Build it");
  await claim(id, alice);
  const released = await update(id, { status: "pending" }, ann);
  expect(released.status).toBe("pending");
  for (const key of ["claimedBy", "claimedUntil", "startedAt"]) expect(released).not.toHaveProperty(key);
  expect(await update(id, { status: "in_progress" }, ann)).toMatchObject({ claimedBy: "ann" });
  expect(await update(id, { status: "in_progress", result: "Half." }, ann)).toMatchObject({ result: "Half." });
  await expect(update(id, { status: "in_progress" }, otherAlice)).rejects.toThrow("is claimed by ann.");
  const blocked = await update(id, { status: "blocked" }, otherAlice);
  expect(blocked.status).toBe("blocked");
  expect(blocked).not.toHaveProperty("claimedBy");
  await expect(claim(id, alice)).rejects.toThrow(`Task “${id}” is blocked and cannot be started.`);
});

test("a task can be claimed once what it depends on is complete", async () => {
  const { create, claim, update, read } = openTasks("dependencies");
  const build = await create("Build it");
  const check = await create("Test it", { dependencies: [build.id] });
  const ship = await create("Ship it", { dependencies: [check.id] });
  await expect(claim(check.id, bob)).rejects.toThrow(`conflict: Task “${check.id}” waits for ${build.id}.`);
  await claim(build.id, alice);
  await update(build.id, { status: "complete" }, alice);
  expect((await claim(check.id, bob)).claimedBy).toBe("bob");
  await update(check.id, { status: "failed", error: "Red." }, bob);
  expect((await read(ship.id)).status).toBe("blocked");
});

test("a claim that expires over a dependency that was cancelled meanwhile leaves the task blocked", async () => {
  const { create, claim, update, read } = openTasks("blocked");
  const { id } = await create("Build it");
  const late = await create("Ask");
  await claim(id, alice);
  await update(late.id, { status: "cancelled" });
  await update(id, { dependencies: [late.id] });
  expect((await read(id, 99)).claimedBy).toBe("alice");
  const blocked = await read(id, 100);
  expect(blocked.status).toBe("blocked");
  expect(blocked).not.toHaveProperty("claimedBy");
});

test("a person gives a task to an agent, which is told once", async () => {
  const { create, run, claim } = openTasks("assigned");
  const { id } = await create("Build it");
  const first = await run({ step: "assign", id, agent: "bob", now: 0 });
  expect(first.result).toMatchObject({ claimedBy: "bob", claimedUntil: at(100) });
  expect(first.assigned).toEqual([`${id} in_progress to bob by ann`]);
  const second = await run({ step: "assign", id, agent: "bob", now: 50_000 });
  expect([second.result.claimedUntil, second.assigned]).toEqual([at(150), []]);
  await expect(claim(id, alice, 50)).rejects.toThrow("is claimed by bob");
});

test("a task whose agent cannot be told stays free", async () => {
  const { create, run, read } = openTasks("untold");
  const { id } = await create("Build it");
  const { refused, changed } = await run({ step: "assign", id, agent: "unreachable" });
  expect(refused?.message).toBe("The message cannot be posted.");
  expect(changed).toEqual([]);
  expect(await read(id)).toMatchObject({ status: "pending" });
});

test("a deleted agent holds nothing, and what it did stays its own", async () => {
  const { create, claim, update, perform, read } = openTasks("deleted");
  const [open, done, other] = [await create("open"), await create("done"), await create("other")];
  for (const { id } of [open, done]) await claim(id, alice);
  await claim(other.id, otherAlice);
  await update(done.id, { status: "complete" }, alice);
  await perform({ step: "forget", agent: "alice" });
  await perform({ step: "forget", agent: "alice" });
  expect(await read(open.id)).toEqual(open);
  expect((await read(done.id)).claimedBy).toBe("alice");
  expect((await read(other.id)).status).toBe("in_progress");
});

test("the same key is the same task", async () => {
  const { run, perform } = openTasks("keys");
  const task = { title: "Build it", type: "code" } as const;
  const first = await run({ step: "create", task, key: "a" });
  const again = await run({ step: "create", task: { ...task, title: "Other" }, key: "a" });
  expect(again).toEqual({ ...first, changed: [] });
  await run({ step: "create", task, key: "b" });
  const { tasks } = await perform({ step: "list", query: { status: "all", limit: 500 } });
  expect(tasks).toHaveLength(2);
});

test("secrets are neither stored nor published", async () => {
  const { run } = openTasks("secrets");
  const task = { title: "Use s3cret", type: "code", description: "s3cret" } as const;
  const created = await run({ step: "create", task });
  const { id } = created.result;
  const change = { status: "complete", result: "It is s3cret." } as const;
  const ended = await run({ step: "update", id, change });
  expect(await run({ step: "update", id, change })).toMatchObject({ result: ended.result, changed: [] });
  const shown = JSON.stringify([created, ended, await run({ step: "expire", shows: true })]);
  expect(shown).not.toContain("s3cret");
  expect(shown.match(/It is \[redacted\]\./g)?.length).toBe(3);
});

test("lists page by status, and progress is that of all tasks", async () => {
  const { create, claim, update, perform } = openTasks("lists");
  const tasks: TeamTask[] = [];
  for (let index = 0; index < 7; index++) tasks.push(await create(`task ${index}`));
  await claim(tasks[1]!.id, alice);
  for (const index of [2, 5]) await update(tasks[index]!.id, { status: "complete" });
  const list = async (query: object) => {
    const { tasks, ...rest } = await perform({ step: "list", query: { status: "all", limit: 3, ...query } });
    return [tasks.map(({ title }: TeamTask) => Number(title.slice(5))), rest.next, rest.progress.complete];
  };
  expect(await list({})).toEqual([[0, 1, 2], "3", 2]);
  expect(await list({ after: "3" })).toEqual([[3, 4, 5], "6", 2]);
  expect(await list({ after: "6" })).toEqual([[6], undefined, 2]);
  expect(await list({ status: "open", after: "1" })).toEqual([[1, 3, 4], "5", 2]);
  expect(await list({ status: "complete" })).toEqual([[2, 5], undefined, 2]);
  expect(await list({ status: "in_progress" })).toEqual([[1], undefined, 2]);
  const long = "x".repeat(20_000);
  for (let index = 0; index < 60; index++) await create("long", { description: long });
  const page = await perform({ step: "list", query: { status: "all", limit: 500 } });
  expect(page.tasks.length).toBeLessThan(60);
  expect(page.next).toBe(String(page.tasks.length));
});

test("a model is shown open tasks and what ended last", async () => {
  const { create, update, perform } = openTasks("shown");
  const ended: string[] = [];
  for (let index = 0; index < 22; index++) ended.push((await create(`done ${index}`)).id);
  await create("open");
  for (const [index, id] of ended.toReversed().entries()) await update(id, { status: "complete" }, ann, index);
  const { tasks, progress } = await perform({ step: "listForAgent" });
  expect(tasks.map(({ title }: TeamTask) => title)).toEqual([
    ...Array.from({ length: 20 }, (_, index) => `done ${index}`),
    "open",
  ]);
  expect(progress).toMatchObject({ total: 23, pending: 1, complete: 22 });
});

test("what is not valid is refused, and changes nothing", async () => {
  const { create, update, claim, run, read } = openTasks("refused");
  const one = await create("one");
  const two = await create("two", { dependencies: [one.id] });
  for (const [attempt, message] of [
    [() => claim("task-none", alice), "not_found: There is no shared task “task-none”."],
    [() => update("task-none", { status: "complete" }), "not_found: There is no shared task “task-none”."],
    [() => create("x", { dependencies: ["task-none"] }), "bad_request: There is no task “task-none” to depend on."],
    [() => create("x", { parentId: "task-none" }), "bad_request: There is no task “task-none” to be the parent."],
    [() => update(one.id, { dependencies: [two.id] }), `bad_request: “${one.id}” cannot depend on “${two.id}”`],
    [() => update(two.id, { status: "in_progress" }), `conflict: Task “${two.id}” waits for ${one.id}.`],
  ] as const)
    await expect(attempt()).rejects.toThrow(message);
  const { refused } = await run({
    step: "update",
    id: one.id,
    change: { result: "noted", status: "complete", dependencies: [two.id] },
  });
  expect(refused?.code).toBe("bad_request");
  expect(await read(one.id)).toEqual(one);
});

test("an agency has at most 1,000 open tasks", async () => {
  const { run, update } = openTasks("many");
  const steps = Array.from({ length: 1000 }, (_, index) => ({
    step: "create",
    task: { title: `task ${index}`, type: "code" },
  }));
  const response = await fetch(`${worker.url}/many`, { method: "POST", body: JSON.stringify(steps) });
  const [first] = (await response.json()) as StepResult[];
  const more = { step: "create", task: { title: "more", type: "code" } } as const;
  expect((await run(more)).refused?.message).toBe("This agency has 1,000 open tasks. Complete or cancel some.");
  await update(first!.result.id, { status: "cancelled" });
  expect((await run(more)).refused).toBeUndefined();
});
