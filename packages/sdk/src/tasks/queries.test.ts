import { expect, test } from "vitest";
import type { Task } from "../protocol/task.ts";
import { createTaskGraph } from "./graph.ts";
import {
  buildTaskTree,
  getProgress,
  getSubtreeProgress,
  listActiveTasks,
  listBlockedTasks,
  listReadyTasks,
  type TaskTreeNode,
  toProgress,
} from "./queries.ts";

function task(id: string, fields: Partial<Task> = {}): Task {
  return { id, type: "code", title: id, status: "pending", dependencies: [], createdAt: 0, ...fields };
}

const graph = createTaskGraph([
  task("root", { status: "in_progress" }),
  task("late", { parentId: "root", createdAt: 30 }),
  task("early", { parentId: "root", createdAt: 10 }),
  task("waiting", { parentId: "root", dependencies: ["early"] }),
  task("free", { parentId: "root", dependencies: ["done"], createdAt: 20 }),
  task("done", { parentId: "root", status: "complete" }),
  task("stuck", { parentId: "early", status: "blocked" }),
  task("other", { status: "failed" }),
]);

const ids = (tasks: readonly Task[]) => tasks.map(({ id }) => id);

test("ready tasks are pending with complete dependencies, oldest first", () => {
  expect(ids(listReadyTasks(graph))).toEqual(["early", "free", "late"]);
});

test("active and blocked tasks are found by their status", () => {
  expect(ids(listActiveTasks(graph))).toEqual(["root"]);
  expect(ids(listBlockedTasks(graph))).toEqual(["stuck"]);
});

const format = ({ task, children, depth }: TaskTreeNode): string =>
  `${depth}${task.id}${children.length > 0 ? `(${children.map(format).join(" ")})` : ""}`;

test("trees nest subtasks under their parents", () => {
  expect(buildTaskTree(graph).map(format)).toEqual(["0root(1late 1early(2stuck) 1waiting 1free 1done)", "0other"]);
});

test("a task whose parent is not there is a root", () => {
  const part = createTaskGraph([task("b", { parentId: "a" }), task("c", { parentId: "b" })]);
  expect(buildTaskTree(part).map(format)).toEqual(["0b(1c)"]);
});

test("progress counts every status and rounds", () => {
  expect(getProgress(graph)).toEqual({
    total: 8,
    pending: 4,
    inProgress: 1,
    blocked: 1,
    complete: 1,
    failed: 1,
    cancelled: 0,
    percentComplete: 13,
  });
});

test.each([
  ["early", 2, 0],
  ["done", 1, 100],
  ["root", 7, 14],
  ["missing", 0, 0],
])("the subtree of %s has %i tasks and is %i %% complete", (id, total, percentComplete) => {
  expect(getSubtreeProgress(graph, id)).toMatchObject({ total, percentComplete });
});

test("no tasks are no progress", () => {
  expect(toProgress({})).toMatchObject({ total: 0, percentComplete: 0 });
  expect(toProgress({ complete: 2, cancelled: 1 })).toMatchObject({ total: 3, cancelled: 1, percentComplete: 67 });
});
