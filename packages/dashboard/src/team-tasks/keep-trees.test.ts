import type { TeamTask } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { keepTrees } from "./keep-trees.ts";

const create = (id: string, status: TeamTask["status"], parentId?: string): TeamTask => ({
  id,
  type: "code",
  title: id,
  status,
  dependencies: [],
  createdAt: 0,
  createdBy: "owner",
  ...(parentId === undefined ? {} : { parentId }),
});

test("what is open is kept with everything above it, in its order", () => {
  const tasks = [
    create("a", "complete"),
    create("b", "complete", "a"),
    create("c", "pending", "b"),
    create("d", "complete", "a"),
    create("e", "complete"),
    create("f", "pending", "missing"),
  ];
  const kept = keepTrees(tasks, ({ status }) => status === "pending");
  expect(kept.map(({ id }) => id)).toEqual(["a", "b", "c", "f"]);
});

test("tasks that are above each other end nothing", () => {
  const tasks = [create("a", "pending", "b"), create("b", "pending", "a")];
  expect(keepTrees(tasks, () => true)).toEqual(tasks);
});
