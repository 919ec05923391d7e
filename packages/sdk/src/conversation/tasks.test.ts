import { expect, test } from "vitest";
import type { Task } from "../protocol/task.ts";
import { addTask, changeTask, fromState } from "./tasks.ts";

const createTask = (id: string, fields: Partial<Task> = {}): Task => ({
  id,
  type: "code",
  title: id,
  status: "pending",
  dependencies: [],
  createdAt: 0,
  ...fields,
});

test("tasks are added once, and changes apply to the task they name", () => {
  const [a, b] = [createTask("a"), createTask("b")];
  const tasks = addTask(addTask(addTask([], a), b), a);
  expect(tasks).toEqual([a, b]);
  const changed = changeTask(tasks, { taskId: "b", runId: "r", status: "complete", result: "ok", completedAt: 5 });
  expect(changed).toEqual([a, { ...b, status: "complete", result: "ok", completedAt: 5 }]);
  expect(changed[0]).toBe(a);
});

test("a task that waits again has not begun", () => {
  const task = createTask("a", { status: "in_progress", startedAt: 3, assignedTo: "subagent-a" });
  expect(changeTask([task], { taskId: "a", status: "blocked" })).toEqual([createTask("a", { status: "blocked" })]);
  expect(changeTask([task], { taskId: "a", result: "half" })).toEqual([{ ...task, result: "half" }]);
});

test("the state's tasks are in the order of their creation, without messages", () => {
  const tasks = [
    createTask("r", { metadata: { message: true } }),
    createTask("late", { createdAt: 2 }),
    createTask("early", { createdAt: 1 }),
  ];
  expect(fromState(tasks).map(({ id }) => id)).toEqual(["early", "late"]);
  expect(fromState()).toEqual([]);
});
