import { getProgress, createTaskGraph, type Task } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { formatProgress, formatTaskTree } from "./task-tree.ts";

function task(id: string, fields: Partial<Task> = {}): Task {
  return { id, type: "code", title: id.toUpperCase(), status: "pending", dependencies: [], createdAt: 0, ...fields };
}

const tasks = [
  task("new", { status: "in_progress", metadata: { message: true } }),
  task("old", { status: "complete" }),
  task("a", { parentId: "old", status: "complete", type: "explore", dependencies: ["x"] }),
  task("b", { parentId: "old", status: "failed", error: "It broke\nbadly." }),
  task("c", { parentId: "a", status: "cancelled" }),
  task("d", { parentId: "old", status: "blocked", dependencies: ["b"], assignedTo: "subagent-d" }),
];

test("tasks are shown as trees, the newest last", () => {
  expect(formatTaskTree(tasks, (text) => `(${text})`)).toBe(
    `✓ OLD  (old · code · complete)
├─ ✓ A  (a · explore · complete)
│  └─ – C  (c · code · cancelled)
├─ ✗ B  (b · code · failed · It broke badly.)
└─ ◌ D  (d · code · blocked · by subagent-d · after b)
● NEW  (new · message · in progress)`,
  );
});

test("a title cannot draw on the terminal", () => {
  const text = formatTaskTree([task("a", { title: "x\u001b[2J\ny" })], String);
  expect(text).toBe("○ x\ufffd[2J y  a · code · pending");
});

test("progress names what there is", () => {
  expect(formatProgress(getProgress(createTaskGraph(tasks)))).toBe(
    "2 of 6 complete, 1 in progress, 1 blocked, 1 failed, 1 cancelled",
  );
});
