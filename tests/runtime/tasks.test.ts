import type { NewEvent, Task } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BareWorker, startBareWorker } from "../kit/workerd.ts";

let worker: BareWorker;

beforeAll(async () => {
  worker = await startBareWorker(new URL("tasks.worker.ts", import.meta.url), { objects: ["TaskStore"] });
});

afterAll(() => worker?.stop());

function openTasks(object: string) {
  const call = async (step: string, input: object = {}): Promise<any> => {
    const body = JSON.stringify({ step, ...input });
    const response = await fetch(`${worker.url}/${object}`, { method: "POST", body });
    if (!response.ok) throw new Error(`${step}: ${await response.text()}`);
    return response.json();
  };
  const create = (title: string, fields: object = {}) => call("create", { task: { title, type: "code", ...fields } });
  const change = (id: string, fields: object) => call("change", { id, change: fields });
  return { call, create, change };
}

const accept = (runId: string, content: string): NewEvent => ({
  type: "request.accepted",
  data: {
    runId,
    idempotencyKey: runId,
    mode: "queue",
    position: 0,
    from: { user: "owner", context: {} },
    messages: [{ id: `${runId}-m`, role: "user", content }],
  },
});
const start = (runId: string): NewEvent => ({ type: "run.started", data: { runId, model: "x:y", boot: "b" } });
const finish = (runId: string): NewEvent => ({ type: "agent.completed", data: { runId, result: "Done." } });
const createdTask = (id: string, fields: Partial<Task> = {}): NewEvent => ({
  type: "task.created",
  data: { task: { id, type: "code", title: id, status: "pending", dependencies: [], createdAt: 0, ...fields } },
});
const titles = (tasks: Task[]) => tasks.map(({ title }) => title);

test("the root task of a message follows its turn without events of its own", async () => {
  const { call } = openTasks("roots");
  const seen: unknown[] = [];
  const look = async () => {
    const { tasks } = await call("page");
    seen.push(tasks.map(({ id, title, status }: Task) => [id, title, status]));
  };
  await call("record", { events: [accept("r", "  Fix the parser\nand the lexer")] });
  await look();
  await call("record", { events: [start("r")] });
  await look();
  await call("record", { events: [{ type: "run.paused", data: { runId: "r", reason: "deferred" } }] });
  await look();
  await call("record", { events: [finish("r")] });
  await look();
  const root = (status: string) => [["r", "Fix the parser", status]];
  expect(seen).toEqual([root("pending"), root("in_progress"), root("in_progress"), root("complete")]);
  expect((await call("page")).tasks[0]).toMatchObject({ result: "Done.", metadata: { message: true } });

  await call("record", { events: [accept("long", "x".repeat(300)), start("long")] });
  await call("record", {
    events: [{ type: "agent.error", data: { runId: "long", error: "Broken.", code: "internal" } }],
  });
  expect(await call("get", { id: "long" })).toMatchObject({
    title: `${"x".repeat(79)}…`,
    status: "failed",
    error: "Broken.",
  });
  await call("record", { events: [accept("c", "never"), { type: "run.canceled", data: { runId: "c" } }] });
  expect((await call("get", { id: "c" })).status).toBe("cancelled");
  expect(await call("open")).toEqual({ hasOpen: false, trees: [] });
});

test("a tree belongs to its turn, and its limits count the root", async () => {
  const { call, create } = openTasks("limits");
  await call("record", { events: [accept("r", "Go"), start("r")] });
  const first = await create("one", { parentId: "r" });
  const second = await create("two", { parentId: first.id });
  expect((await create("three", { parentId: second.id })).refused).toEqual({
    code: "conflict",
    message: `Tasks can be nested 3 levels deep; “${second.id}” is already on the third.`,
  });
  for (let index = 1; index < 10; index++) await create(`s${index}`, { parentId: "r" });
  expect((await create("eleventh", { parentId: "r" })).refused.message).toBe("“r” already has 10 subtasks.");
  const delegated = { task: { title: "child", type: "code", parentId: "r" }, metadata: { delegated: true } };
  expect(await call("create", delegated)).toMatchObject({ metadata: { delegated: true }, status: "pending" });
  expect((await create("x", { parentId: "none" })).refused).toEqual({
    code: "bad_request",
    message: "There is no task “none” to be the parent.",
  });
});

test("dependencies connect trees, and a change reaches what depends on it", async () => {
  const { call, create, change } = openTasks("connected");
  const a = await create("a");
  const b = await create("b", { dependencies: [a.id] });
  const c = await create("c", { dependencies: [b.id, b.id] });
  await create("elsewhere");
  expect(c.dependencies).toEqual([b.id]);
  expect((await call("graph", { id: b.id })).sort()).toEqual([a.id, b.id, c.id].sort());
  expect((await change(a.id, { dependencies: [c.id] })).refused.message).toBe(
    `“${a.id}” cannot depend on “${c.id}”: that would be a cycle.`,
  );
  expect((await change(c.id, { status: "in_progress" })).refused.message).toBe(`Task “${c.id}” waits for ${b.id}.`);
  const failed = await change(a.id, { status: "failed", error: "no" });
  expect(failed).toMatchObject({ status: "failed", error: "no" });
  expect(failed.affected.sort()).toEqual([`${b.id} blocked`, `${c.id} blocked`].sort());
  await call("rebuild");
  expect((await call("get", { id: c.id })).status).toBe("blocked");
  expect((await change(b.id, { dependencies: [] })).status).toBe("pending");
  expect((await change(b.id, { status: "complete", result: "ok" })).affected).toEqual([`${c.id} pending`]);
  expect((await change(b.id, { status: "complete" })).refused).toEqual({
    code: "conflict",
    message: `Task “${b.id}” is already complete.`,
  });
});

test("what is finished connects nothing, so that a long history makes no change expensive", async () => {
  const { call, create, change } = openTasks("history");
  const ids: string[] = [];
  for (let index = 0; index < 30; index++) {
    const { id } = await create(`t${index}`, { dependencies: ids.slice(-1) });
    await change(id, { status: index === 10 ? "failed" : "complete" });
    ids.push(id);
  }
  const last = await create("last", { dependencies: [ids[29], ids[10]] });
  expect(last.status).toBe("blocked");
  expect((await call("graph", { id: last.id })).sort()).toEqual([last.id, ids[29], ids[10]].sort());
  expect((await change(last.id, { dependencies: [ids[29]] })).status).toBe("pending");
  // What a waiting task needs is known, also what is finished elsewhere.
  const other = await create("other");
  await change(last.id, { dependencies: [ids[29], other.id] });
  await change(other.id, { status: "blocked" });
  expect((await change(other.id, { status: "complete" })).affected).toEqual([`${last.id} pending`]);
  expect((await change(last.id, { status: "in_progress" })).status).toBe("in_progress");
});

test("a dependency that is added or removed later counts as well", async () => {
  const { create, change } = openTasks("later");
  const [a, b, c] = [await create("a"), await create("b"), await create("c")];
  await change(b.id, { dependencies: [a.id, c.id] });
  await change(b.id, { dependencies: [a.id] });
  expect((await change(c.id, { status: "failed" })).affected).toEqual([]);
  expect((await change(a.id, { status: "failed" })).affected).toEqual([`${b.id} blocked`]);
});

test("the message of a turn is neither changed nor depended on", async () => {
  const { call, create, change } = openTasks("turns");
  await call("record", { events: [accept("r", "Go"), start("r"), accept("s", "Next")] });
  expect((await change("r", { status: "complete" })).refused).toEqual({
    code: "conflict",
    message: "“r” is the message of a turn; cancel the turn instead.",
  });
  expect((await create("x", { dependencies: ["r"] })).refused).toEqual({
    code: "bad_request",
    message: "“r” is the message of a turn; a task cannot depend on it.",
  });
  expect((await create("x", { parentId: "r", dependencies: ["r"] })).refused.message).toMatch(/would be a cycle/);
  expect((await change("none", { status: "complete" })).refused.code).toBe("not_found");
});

test("a sub-agent's work starts and ends its task, once", async () => {
  const { call, create, change } = openTasks("children");
  const { id } = await create("work");
  const started = await call("start", { id, assignedTo: "subagent-x" });
  expect(started).toMatchObject({ status: "in_progress", assignedTo: "subagent-x" });
  expect((await change(id, { status: "complete" })).refused.message).toBe(
    `Task “${id}” is being worked on by subagent-x; cancel it there or wait.`,
  );
  expect((await call("start", { id, assignedTo: "subagent-y" })).refused.code).toBe("conflict");
  const done = await call("end", { id, end: { status: "complete", result: "found" } });
  expect(done).toMatchObject({ status: "complete", result: "found", assignedTo: "subagent-x" });
  expect(await call("end", { id, end: { status: "failed", error: "late" } })).toEqual(done);
  expect(await call("end", { id: "gone", end: { status: "failed" } })).toBeNull();

  const second = await create("again");
  await call("start", { id: second.id, assignedTo: "subagent-z" });
  expect(await call("end", { id: second.id, end: { status: "failed", error: "cut off" } })).toMatchObject({
    status: "failed",
    error: "cut off",
  });
});

test("a task can be held back and started again", async () => {
  const { call, create, change } = openTasks("held");
  const { id } = await create("work");
  expect(await change(id, { status: "in_progress" })).toHaveProperty("startedAt");
  expect(await change(id, { status: "blocked" })).not.toHaveProperty("startedAt");
  await call("rebuild");
  expect(await call("get", { id })).toEqual({
    id,
    type: "code",
    title: "work",
    status: "blocked",
    dependencies: [],
    createdAt: expect.any(Number),
  });
  expect((await change(id, { status: "in_progress" })).refused.message).toMatch(/is blocked and cannot be started/);
  expect((await change(id, { status: "pending", result: "half" })).status).toBe("pending");
  expect(await call("get", { id })).toMatchObject({ result: "half" });
});

test("open trees and the latest twenty finished ones are listed, older ones are the archive", async () => {
  const { call, create, change } = openTasks("archive");
  const kept = await create("still open");
  const under = await create("below", { parentId: kept.id });
  for (let turn = 1; turn <= 25; turn++) {
    await call("record", { events: [accept(`r${turn}`, `turn ${turn}`), start(`r${turn}`), finish(`r${turn}`)] });
  }
  const step = await create("a step", { parentId: "r1" });
  const listed = await call("page");
  expect(titles(listed.tasks)).toEqual([
    ...Array.from({ length: 20 }, (_, index) => `turn ${25 - index}`),
    "turn 1",
    "a step",
    "still open",
    "below",
  ]);
  expect(listed.progress).toMatchObject({ total: 24, pending: 3, complete: 21, percentComplete: 88 });
  expect(listed).not.toHaveProperty("next");
  const archive = await call("page", { query: { archived: "1", limit: 100 } });
  expect(titles(archive.tasks)).toEqual(["turn 5", "turn 4", "turn 3", "turn 2"]);
  expect(archive.progress).toMatchObject({ total: 4, complete: 4, percentComplete: 100 });

  await change(step.id, { status: "cancelled" });
  await change(under.id, { status: "complete" });
  await change(kept.id, { status: "complete" });
  expect(await call("open")).toEqual({ hasOpen: false, trees: [] });
  const pages = [];
  for (
    let after: string | undefined, page;
    (page = await call("page", { query: { archived: "1", limit: 2, after } }));
  ) {
    pages.push(titles(page.tasks));
    after = page.next;
    if (after === undefined) break;
  }
  expect(pages).toEqual([
    ["turn 5", "turn 4"],
    ["turn 3", "turn 2"],
    ["turn 1", "a step", "still open", "below"],
  ]);
});

test("a page is never too large for a message between objects", async () => {
  const { call } = openTasks("large");
  const text = "x".repeat(20_000);
  for (let batch = 0; batch < 6; batch++) {
    await call("record", {
      events: Array.from({ length: 20 }, (_, index) =>
        createdTask(`t${batch}-${index}`, { description: text, result: text }),
      ),
    });
  }
  const page = await call("page");
  expect(page.tasks.length).toBeLessThan(100);
  const rest = await call("page", { query: { limit: 100, after: page.next } });
  expect(page.tasks.length + rest.tasks.length).toBe(120);
});

test("the number of open tasks is limited", async () => {
  const { call, create } = openTasks("many");
  const events = Array.from({ length: 1000 }, (_, index) =>
    createdTask(`t${index}`, index > 0 ? { dependencies: [`t${index - 1}`] } : {}),
  );
  await call("record", { events });
  expect((await create("one more")).refused).toEqual({
    code: "conflict",
    message: "This agent has 1,000 open tasks. Complete or cancel some.",
  });
  expect((await call("change", { id: "t0", change: { status: "cancelled" } })).affected).toHaveLength(999);
  expect((await create("one more", { dependencies: ["t999"] })).status).toBe("blocked");
});

test("the number of tasks that depend on each other is limited, with what is finished around them", async () => {
  const { call, create, change } = openTasks("connected limit");
  // Each tree has one open task and 49 that are finished.
  for (let tree = 0; tree < 40; tree++) {
    const children = Array.from({ length: 49 }, (_, index) =>
      createdTask(`t${tree}-${index}`, { parentId: `t${tree}`, status: "complete" }),
    );
    const dependencies = tree % 20 > 0 ? [`t${tree - 1}`] : [];
    await call("record", { events: [createdTask(`t${tree}`, { dependencies }), ...children] });
  }
  const message = "Too many tasks would be connected by dependencies. Complete some, or depend on fewer.";
  const refused = { code: "conflict", message };
  expect((await create("bridge", { dependencies: ["t0", "t20"] })).refused).toEqual(refused);
  expect((await change("t0", { dependencies: ["t39"] })).refused).toEqual(refused);
  expect((await create("one side", { dependencies: ["t0"] })).status).toBe("pending");
  expect((await change("t19", { status: "complete" })).status).toBe("complete");
});

test("clearing the conversation removes all tasks", async () => {
  const { call, create } = openTasks("cleared");
  await create("a");
  expect((await call("open")).hasOpen).toBe(true);
  await call("clear");
  expect(await call("open")).toEqual({ hasOpen: false, trees: [] });
  expect((await call("page")).progress.total).toBe(0);
});

test("a tool call that is repeated after a crash has its effect once", async () => {
  const { call } = openTasks("calls");
  await call("record", { events: [accept("r", "Go"), start("r")] });
  const create = (callId: string) => call("createInCall", { runId: "r", callId, task: { title: "Step" } });
  const first = await create("c1");
  expect(first).toMatchObject({ parentId: "r", type: "code", metadata: { callId: "c1" } });
  await call("reopen");
  expect(await create("c1")).toEqual(first);
  expect((await create("c2")).id).not.toBe(first.id);
  const end = (change: object) => call("changeInCall", { runId: "r", callId: "c3", id: first.id, change });
  const done = await end({ status: "complete", result: "ok" });
  expect(done).toMatchObject({ task: { status: "complete", result: "ok" }, affected: [] });
  expect(await end({ status: "complete", result: "ok" })).toEqual(done);
  expect((await end({ status: "complete", result: "other" })).refused.message).toMatch(/is already complete/);
  expect((await end({ status: "failed" })).refused.message).toMatch(/is already complete/);
});
