import { describe, expect, test } from "vitest";
import type { Task } from "../protocol/task.ts";
import {
  addTask,
  areDependenciesSatisfied,
  blockTask,
  cancelTask,
  completeTask,
  createTaskGraph,
  deserializeGraph,
  diffGraphs,
  failTask,
  isFinished,
  isTaskError,
  listAncestors,
  listDescendants,
  releaseTask,
  serializeGraph,
  setDependencies,
  startTask,
  type TaskError,
  type TaskGraph,
  taskLimits,
} from "./graph.ts";

const now = 1000;

function task(id: string, fields: Partial<Task> = {}): Task {
  return { id, type: "code", title: id, status: "pending", dependencies: [], createdAt: 0, ...fields };
}

/** Builds a graph from `id`, `id<parent`, `id:dep,dep` and `id<parent:dep`, adding each task in turn. */
function build(...texts: string[]): TaskGraph {
  return texts.reduce((graph, text) => expectGraph(add(graph, text)), createTaskGraph());
}

function add(graph: TaskGraph, text: string, fields: Partial<Task> = {}): TaskGraph | TaskError {
  const [, id = "", parentId, dependencies] = /^([^<:]+)(?:<([^:]+))?(?::(.+))?$/.exec(text) ?? [];
  return addTask(
    graph,
    task(id, {
      ...(parentId ? { parentId } : {}),
      ...(dependencies ? { dependencies: dependencies.split(",") } : {}),
      ...fields,
    }),
  );
}

function expectGraph(result: TaskGraph | TaskError): TaskGraph {
  if (isTaskError(result)) throw new Error(result.message);
  return result;
}

const change = {
  start: (graph: TaskGraph, id: string) => startTask(graph, id, { now }),
  complete: (graph: TaskGraph, id: string) => completeTask(graph, id, { now }),
  fail: (graph: TaskGraph, id: string) => failTask(graph, id, { error: "broken", now }),
  cancel: (graph: TaskGraph, id: string) => cancelTask(graph, id, { now }),
  block: blockTask,
  release: releaseTask,
};

/** Applies `complete a`, `fail b` and so on. */
function apply(graph: TaskGraph, ...steps: string[]): TaskGraph {
  return steps.reduce((current, step) => {
    const [verb, id = ""] = step.split(" ");
    return expectGraph(change[verb as keyof typeof change](current, id));
  }, graph);
}

const statuses = (graph: TaskGraph) => Object.fromEntries([...graph.tasks.values()].map((one) => [one.id, one.status]));

describe("adding", () => {
  test.each([
    ["a root", [], "a"],
    ["a second root", ["a"], "b"],
    ["a subtask", ["a"], "b<a"],
    ["a subtask of a subtask", ["a", "b<a"], "c<b"],
    ["a dependency on a root", ["a"], "b:a"],
    ["a dependency on a sibling", ["a", "b<a"], "c<a:b"],
    ["a dependency on a task of another tree", ["a", "b<a", "x"], "y<x:b"],
    ["two dependencies", ["a", "b"], "c:a,b"],
    ["a dependency on its own kind of cousin", ["r", "a<r", "b<r", "c<a"], "d<b:c"],
  ])("%s is accepted", (_, before, added) => {
    const graph = build(...before);
    const after = expectGraph(add(graph, added));
    expect(after.tasks.size).toBe(graph.tasks.size + 1);
    expect(graph.tasks.size).toBe(before.length);
  });

  test.each([
    ["an id that is taken", ["a"], "a", "duplicate", "Task “a” already exists."],
    ["a missing parent", ["a"], "b<x", "no_parent", "There is no task “x” to be the parent."],
    ["itself as the parent", [], "b<b", "no_parent", "There is no task “b” to be the parent."],
    ["a missing dependency", ["a"], "b:x", "no_dependency", "There is no task “x” to depend on."],
    ["one missing dependency of two", ["a"], "b:a,x", "no_dependency", "There is no task “x” to depend on."],
    ["itself as a dependency", ["a"], "b:b", "no_dependency", "There is no task “b” to depend on."],
    ["its parent as a dependency", ["a"], "b<a:a", "cycle", "“b” cannot depend on “a”: that would be a cycle."],
    ["its root as a dependency", ["a", "b<a"], "c<b:a", "cycle", "“c” cannot depend on “a”: that would be a cycle."],
    ["what depends on its parent", ["a", "x:a"], "b<a:x", "cycle", "“b” cannot depend on “x”: that would be a cycle."],
    ["what depends on that", ["a", "x:a", "y:x"], "b<a:y", "cycle", "“b” cannot depend on “y”: that would be a cycle."],
    [
      "a fourth level",
      ["a", "b<a", "c<b"],
      "d<c",
      "depth",
      "Tasks can be nested 3 levels deep; “c” is already on the third.",
    ],
  ])("%s is refused", (_, before, added, code, message) => {
    expect(add(build(...before), added)).toEqual({ code, message });
  });

  test("the first of several problems is reported", () => {
    const graph = build("a", "b<a", "c<b");
    expect(add(graph, "a<x:y")).toMatchObject({ code: "duplicate" });
    expect(add(graph, "d<x:y")).toMatchObject({ code: "no_parent" });
    expect(add(graph, "d<c:y")).toMatchObject({ code: "no_dependency" });
    expect(add(graph, "d<c:c")).toMatchObject({ code: "depth" });
  });

  const ten = ["r", ...Array.from({ length: 10 }, (_, index) => `s${index}<r`)];
  const fifty = [...ten, ...Array.from({ length: 39 }, (_, index) => `t${index}<s${index % 4}`)];

  test("a task has at most ten subtasks", () => {
    expect(add(build(...ten), "s10<r")).toEqual({ code: "subtasks", message: "“r” already has 10 subtasks." });
    expect(add(build(...ten.slice(0, -1)), "s10<r")).toHaveProperty("tasks");
  });

  test("a tree has at most fifty tasks, with its root", () => {
    expect(build(...fifty).tasks.size).toBe(taskLimits.maxTotalTasks);
    expect(add(build(...fifty), "u<s9")).toMatchObject({ code: "total" });
    expect(add(build(...fifty.slice(0, -1)), "u<s9")).toHaveProperty("tasks");
  });

  test("the limit is per tree", () => {
    expect(add(build(...fifty, "other"), "u<other")).toHaveProperty("tasks");
    expect(add(build(...fifty), "another")).toHaveProperty("tasks");
  });

  test("the total comes before depth and subtasks", () => {
    expect(add(build(...fifty), "u<t0")).toMatchObject({ code: "total" });
    expect(add(build(...fifty), "u<r")).toMatchObject({ code: "total" });
  });

  test("delegated tasks neither have these limits nor count", () => {
    const delegated = { metadata: { delegated: true } };
    let graph = build(...fifty);
    for (let index = 0; index < 200; index++) graph = expectGraph(add(graph, `d${index}<r`, delegated));
    expect(graph.tasks.size).toBe(250);
    let wide = build("r");
    for (let index = 0; index < 20; index++) wide = expectGraph(add(wide, `d${index}<r`, delegated));
    expect(add(wide, "a<r")).toHaveProperty("tasks");
    expect(add(build("a", "b<a", "c<b"), "d<c", delegated)).toMatchObject({ code: "depth" });
  });

  test.each(["failed", "cancelled", "blocked"] as const)("a dependency that is %s blocks a new task", (status) => {
    const graph = createTaskGraph([task("a", { status })]);
    expect(statuses(expectGraph(add(graph, "b:a")))).toEqual({ a: status, b: "blocked" });
  });

  test.each(["pending", "in_progress", "complete"] as const)("a dependency that is %s does not", (status) => {
    const graph = createTaskGraph([task("a", { status })]);
    expect(statuses(expectGraph(add(graph, "b:a")))).toEqual({ a: status, b: "pending" });
  });
});

describe("dependencies", () => {
  test.each([
    ["itself", ["a"], "a", ["a"], "cycle"],
    ["what depends on it", ["a", "b:a"], "a", ["b"], "cycle"],
    ["what depends on it indirectly", ["a", "b:a", "c:b"], "a", ["c"], "cycle"],
    ["its parent", ["a", "b<a"], "b", ["a"], "cycle"],
    ["what depends on its parent", ["a", "b<a", "x:a"], "b", ["x"], "cycle"],
    ["the parent of what depends on it", ["x", "a", "b<a:x"], "x", ["a"], "cycle"],
    ["a missing task", ["a"], "a", ["x"], "no_dependency"],
  ])("cannot become %s", (_, before, id, dependencies, code) => {
    expect(setDependencies(build(...before), id, dependencies)).toMatchObject({ code });
  });

  test("of a missing or finished task cannot change", () => {
    expect(setDependencies(build("a"), "x", [])).toEqual({ code: "not_found", message: "There is no task “x”." });
    const done = apply(build("a"), "complete a");
    expect(setDependencies(done, "a", [])).toEqual({ code: "finished", message: "Task “a” is already complete." });
  });

  test("are listed once each", () => {
    const graph = expectGraph(setDependencies(build("a", "b"), "b", ["a", "a"]));
    expect(graph.tasks.get("b")?.dependencies).toEqual(["a"]);
  });

  test("without the failed one release a blocked task", () => {
    const graph = apply(build("a", "b:a"), "fail a");
    expect(statuses(expectGraph(setDependencies(graph, "b", [])))).toEqual({ a: "failed", b: "pending" });
  });

  test("with a failed one block a task and what depends on it", () => {
    const graph = apply(build("a", "b", "c:b"), "fail a");
    const changed = expectGraph(setDependencies(graph, "b", ["a"]));
    expect(statuses(changed)).toEqual({ a: "failed", b: "blocked", c: "blocked" });
  });

  test("of a started task change nothing else", () => {
    const graph = apply(build("a", "b"), "fail a", "start b");
    expect(statuses(expectGraph(setDependencies(graph, "b", ["a"])))).toEqual({ a: "failed", b: "in_progress" });
  });

  test.each([
    [[], true],
    [["complete a"], false],
    [["complete a", "complete b"], true],
    [["complete a", "start b"], false],
    [["complete a", "fail b"], false],
  ])("after %j", (steps, isSatisfied) => {
    const graph = apply(build("a", "b", "c:a,b", "d"), ...steps);
    expect(areDependenciesSatisfied(graph, graph.tasks.get(steps.length === 0 ? "d" : "c")!)).toBe(isSatisfied);
  });
});

describe("transitions", () => {
  // What each change makes of a task in each status; undefined if it is refused.
  test.each([
    ["start", "pending", "in_progress"],
    ["start", "in_progress", undefined],
    ["start", "blocked", undefined],
    ["start", "complete", undefined],
    ["start", "failed", undefined],
    ["start", "cancelled", undefined],
    ["complete", "pending", "complete"],
    ["complete", "in_progress", "complete"],
    ["complete", "blocked", "complete"],
    ["complete", "complete", undefined],
    ["complete", "failed", undefined],
    ["complete", "cancelled", undefined],
    ["fail", "pending", "failed"],
    ["fail", "in_progress", "failed"],
    ["fail", "blocked", "failed"],
    ["fail", "complete", undefined],
    ["fail", "failed", undefined],
    ["fail", "cancelled", undefined],
    ["cancel", "pending", "cancelled"],
    ["cancel", "in_progress", "cancelled"],
    ["cancel", "blocked", "cancelled"],
    ["cancel", "complete", undefined],
    ["cancel", "failed", undefined],
    ["cancel", "cancelled", undefined],
    ["block", "pending", "blocked"],
    ["block", "in_progress", "blocked"],
    ["block", "complete", undefined],
    ["release", "blocked", "pending"],
    ["release", "in_progress", "pending"],
    ["release", "failed", undefined],
  ] as const)("%s when %s gives %s", (verb, status, expected) => {
    const result = change[verb](createTaskGraph([task("a", { status })]), "a");
    expect(isTaskError(result) ? undefined : result.tasks.get("a")?.status).toBe(expected);
    if (isTaskError(result) && isFinished(status)) {
      expect(result).toEqual({ code: "finished", message: `Task “a” is already ${status}.` });
    }
  });

  test.each(Object.keys(change))("%s refuses a task that does not exist", (verb) => {
    const result = change[verb as keyof typeof change](build("a"), "x");
    expect(result).toEqual({ code: "not_found", message: "There is no task “x”." });
  });

  test("a task with open dependencies cannot start, and the message names them", () => {
    const graph = apply(build("a", "b", "c", "d:a,b,c"), "complete b");
    expect(change.start(graph, "d")).toEqual({ code: "waits", message: "Task “d” waits for a, c." });
    expect(apply(graph, "complete a", "complete c", "start d").tasks.get("d")?.status).toBe("in_progress");
  });

  test("a task that a dependency blocks cannot be released", () => {
    const graph = apply(build("a", "b:a"), "cancel a");
    expect(change.release(graph, "b")).toEqual({ code: "waits", message: "Task “b” waits for a." });
  });

  test("times, results and who works on it are noted", () => {
    let graph = expectGraph(startTask(build("a", "b", "c"), "a", { assignedTo: "subagent-a", now: 5 }));
    expect(graph.tasks.get("a")).toEqual(task("a", { status: "in_progress", assignedTo: "subagent-a", startedAt: 5 }));
    graph = expectGraph(completeTask(graph, "a", { result: "done", now: 9 }));
    expect(graph.tasks.get("a")).toMatchObject({ result: "done", startedAt: 5, completedAt: 9 });
    graph = expectGraph(failTask(graph, "b", { error: "broken", now: 10 }));
    expect(graph.tasks.get("b")).toEqual(task("b", { status: "failed", error: "broken", completedAt: 10 }));
    graph = expectGraph(cancelTask(graph, "c", { now: 11 }));
    expect(graph.tasks.get("c")).toEqual(task("c", { status: "cancelled", completedAt: 11 }));
  });

  test.each([
    [
      "completing unblocks what waits for nothing else",
      ["a", "b:a"],
      ["block a", "complete a"],
      { a: "complete", b: "pending" },
    ],
    [
      "what also waits for another stays blocked",
      ["a", "b", "c:a,b"],
      ["block a", "complete a"],
      { a: "complete", b: "pending", c: "blocked" },
    ],
    [
      "until that is complete",
      ["a", "b", "c:a,b"],
      ["block a", "complete a", "complete b"],
      { a: "complete", b: "complete", c: "pending" },
    ],
    ["failing blocks a dependent", ["a", "b:a"], ["fail a"], { a: "failed", b: "blocked" }],
    ["cancelling blocks a dependent", ["a", "b:a"], ["cancel a"], { a: "cancelled", b: "blocked" }],
    [
      "all the way down",
      ["a", "b:a", "c:b", "d:c"],
      ["fail a"],
      { a: "failed", b: "blocked", c: "blocked", d: "blocked" },
    ],
    ["a diamond", ["a", "b:a", "c:a", "d:b,c"], ["fail a"], { a: "failed", b: "blocked", c: "blocked", d: "blocked" }],
    ["others are left alone", ["a", "b", "c:b"], ["fail a"], { a: "failed", b: "pending", c: "pending" }],
    [
      "and so is what has started",
      ["a", "b", "c:a"],
      ["complete a", "start c", "fail b"],
      { a: "complete", b: "failed", c: "in_progress" },
    ],
    ["subtasks do not depend on their parent", ["a", "b<a"], ["fail a"], { a: "failed", b: "pending" }],
    [
      "completing what was blocked releases its dependents",
      ["a", "b:a", "c:b"],
      ["fail a", "complete b"],
      { a: "failed", b: "complete", c: "pending" },
    ],
  ])("%s", (_, tasks, steps, expected) => {
    expect(statuses(apply(build(...tasks), ...steps))).toEqual(expected);
  });
});

describe("reading", () => {
  const graph = build("a", "b<a", "c<a", "d<b", "e");

  test.each([
    ["a", []],
    ["b", ["a"]],
    ["d", ["b", "a"]],
    ["x", []],
  ])("the ancestors of %s are %j", (id, expected) => {
    expect(listAncestors(graph, id).map((one) => one.id)).toEqual(expected);
  });

  test.each([
    ["a", ["b", "c", "d"]],
    ["b", ["d"]],
    ["e", []],
    ["x", []],
  ])("the descendants of %s are %j", (id, expected) => {
    expect(listDescendants(graph, id).map((one) => one.id)).toEqual(expected);
  });

  test("a graph survives serialization", () => {
    const copy = deserializeGraph(JSON.parse(JSON.stringify(serializeGraph(graph))) as Task[]);
    expect(copy).toEqual(graph);
  });

  test("the difference of two graphs has one entry for each changed task", () => {
    const before = build("a", "b:a", "c:b", "d");
    expect(diffGraphs(before, apply(before, "fail a"))).toEqual([
      { taskId: "a", status: "failed", error: "broken", completedAt: now },
      { taskId: "b", status: "blocked" },
      { taskId: "c", status: "blocked" },
    ]);
    expect(diffGraphs(before, before)).toEqual([]);
    expect(diffGraphs(before, expectGraph(add(before, "e")))).toEqual([]);
  });
});

test("a chain of any length is blocked", () => {
  const length = 20_000;
  const chain = createTaskGraph(
    Array.from({ length }, (_, index) => task(`t${index}`, index > 0 ? { dependencies: [`t${index - 1}`] } : {})),
  );
  const failed = apply(chain, "fail t0");
  expect([...failed.tasks.values()].filter(({ status }) => status === "blocked")).toHaveLength(length - 1);
});
