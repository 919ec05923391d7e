import type { TeamTask } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { toTreeTasks } from "./task-owner.ts";
import { formatTaskTree } from "./task-tree.ts";

const createTask = (id: string, fields: Partial<TeamTask> = {}): TeamTask => ({
  id,
  type: "code",
  title: id.toUpperCase(),
  status: "pending",
  dependencies: [],
  createdBy: "owner",
  createdAt: 0,
  ...fields,
});

test("shared tasks are shown as trees with their holders, the newest last", () => {
  const tasks = [
    createTask("a"),
    createTask("b", { parentId: "a", status: "in_progress", claimedBy: "alice" }),
    createTask("c", { dependencies: ["a"] }),
    createTask("d", { parentId: "a" }),
    createTask("e", { parentId: "elsewhere" }),
  ];
  expect(formatTaskTree(toTreeTasks(tasks), (text) => text).split("\n")).toEqual([
    "○ A  a · code · pending",
    "├─ ● B  b · code · in progress · by alice",
    "└─ ○ D  d · code · pending",
    "○ C  c · code · pending · after a",
    "○ E  e · code · pending",
  ]);
});
