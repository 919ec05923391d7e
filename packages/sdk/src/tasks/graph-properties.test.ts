import { expect, test } from "vitest";
import { createRandom, type Random } from "../../../../tests/kit/random.ts";
import { taskTypes } from "../protocol/choices.ts";
import type { Task } from "../protocol/task.ts";
import {
  addTask,
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
  type TaskGraph,
  taskLimits,
} from "./graph.ts";
import { getProgress, listReadyTasks } from "./queries.ts";

const random = createRandom("task graph");

test("whatever is done to a graph, it stays valid", () => {
  for (let round = 0; round < 40; round++) {
    let graph = createTaskGraph();
    for (let now = 1; now <= 100; now++) {
      const next = step(graph, now, random);
      if (isTaskError(next)) continue;
      expectApplied(graph, next);
      graph = next;
      expectValid(graph);
    }
  }
});

function step(graph: TaskGraph, now: number, random: Random) {
  const ids = [...graph.tasks.keys()];
  const pickId = () => (ids.length === 0 || random.chance(0.02) ? "missing" : random.pick(ids));
  const pickIds = () => Array.from({ length: random.below(3) }, pickId);
  const id = pickId();
  switch (random.below(12)) {
    case 0:
      return startTask(graph, id, { now });
    case 1:
      return completeTask(graph, id, { now });
    case 2:
      return failTask(graph, id, { error: "broken", now });
    case 3:
      return cancelTask(graph, id, { now });
    case 4:
      return random.chance(0.5) ? blockTask(graph, id) : releaseTask(graph, id);
    case 5:
    case 6:
      return setDependencies(graph, id, pickIds());
    default:
      return addTask(graph, {
        id: random.chance(0.02) ? id : `t${now}`,
        ...(random.chance(0.9) ? { parentId: pickId() } : {}),
        type: random.pick(taskTypes),
        title: random.text(5),
        status: "pending",
        dependencies: pickIds(),
        createdAt: now,
      });
  }
}

/** The difference of two graphs leads from one to the other. */
function expectApplied(before: TaskGraph, after: TaskGraph): void {
  const patches = new Map(diffGraphs(before, after).map(({ taskId, ...patch }) => [taskId, patch]));
  const added = [...after.tasks.values()].filter(({ id }) => !before.tasks.has(id));
  const patched = [...before.tasks.values()].map((task) => dropUndefined({ ...task, ...patches.get(task.id) }));
  expect([...patched, ...added]).toEqual(serializeGraph(after));
}

const dropUndefined = (task: Task) =>
  Object.fromEntries(Object.entries(task).filter(([, value]) => value !== undefined)) as Task;

function expectValid(graph: TaskGraph): void {
  const tasks = serializeGraph(graph);
  for (const task of tasks) {
    expect(listAncestors(graph, task.id).length).toBeLessThan(taskLimits.maxDepth);
    expect(tasks.filter(({ parentId }) => parentId === task.id).length).toBeLessThanOrEqual(taskLimits.maxSubtasks);
    if (task.parentId === undefined) {
      expect(listDescendants(graph, task.id).length).toBeLessThan(taskLimits.maxTotalTasks);
    }
    expect(isFinished(task.status)).toBe(task.completedAt !== undefined);
    const dependencies = task.dependencies.map((id) => graph.tasks.get(id)!);
    // A pending task may still become ready: nothing it depends on has failed.
    if (task.status === "pending") {
      expect(dependencies.map(({ status }) => status)).not.toContain("failed");
      expect(dependencies.map(({ status }) => status)).not.toContain("cancelled");
    }
    expectNoCycle(graph, task);
  }
  for (const task of listReadyTasks(graph)) {
    expect(task.dependencies.every((id) => graph.tasks.get(id)?.status === "complete")).toBe(true);
  }
  expect(getProgress(graph).total).toBe(tasks.length);
  expect(deserializeGraph(serializeGraph(graph))).toEqual(graph);
}

/** A task waits for its dependencies and its subtasks, and never for itself. */
function expectNoCycle(graph: TaskGraph, task: Task): void {
  const listAwaited = (id: string) => [
    ...(graph.tasks.get(id)?.dependencies ?? []),
    ...listDescendants(graph, id).map((child) => child.id),
  ];
  const reached = new Set(listAwaited(task.id));
  for (const id of reached) for (const next of listAwaited(id)) reached.add(next);
  expect(reached).not.toContain(task.id);
}
