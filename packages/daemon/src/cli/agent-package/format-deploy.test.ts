import type { Deploy } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { Output } from "../output.ts";
import { formatDeploy } from "./format-deploy.ts";

const output = new Output({ stdout: { write() {} }, stderr: { write() {} }, env: {}, json: false });

const deploy: Deploy = {
  id: "hello",
  name: "hello",
  version: 1,
  isNew: true,
  capabilities: ["ai", "bash"],
  added: ["ai", "bash"],
  removed: [],
  tools: [{ name: "search", description: "Searches." }],
  settings: ["model"],
  bytes: 1234,
  blueprint: "hello",
  agent: { name: "hello", isNew: true },
  warnings: [],
  dryRun: false,
};

const format = (changes: Partial<Deploy> = {}, target = "hello") =>
  formatDeploy(output, { ...deploy, ...changes }, target).split("\n");

test("the first version says everything it may do, and how to go on", () => {
  expect(format({}, "hello@review")).toEqual([
    "Deployed hello version 1 (1.2 kB).",
    "It is granted:",
    "  ai    calls models, which counts against its budgets",
    "  bash  runs shell commands in its workspace",
    "Tools for the agency’s other agents: hello__search",
    "Settings: model. Change them with `thinkery settings hello@review`.",
    "Created the agent. Talk to it with `thinkery chat hello@review`.",
  ]);
});

test("a later version marks what it may do in addition, and what it may not do any more", () => {
  const lines = format({ version: 3, added: ["bash"], removed: ["fs"], agent: { name: "hello", isNew: false } });
  expect(lines.slice(1, 6)).toEqual([
    "This version asks for more than the one before: bash",
    "No longer granted: fs",
    "It is granted:",
    "  ai    calls models, which counts against its budgets",
    "  bash  runs shell commands in its workspace (new)",
  ]);
  expect(lines.at(-1)).toBe("Talk to it with `thinkery chat hello`.");
});

test("nothing is said to have happened if nothing has", () => {
  expect(format({ isNew: false })[0]).toBe("hello is unchanged: version 1.");
  const { agent: _, ...dryRun } = { ...deploy, dryRun: true };
  expect(formatDeploy(output, dryRun, "hello")).toMatch(
    /^Nothing was deployed\. .*version 1 .*\nIt would be granted:\n/,
  );
  expect(formatDeploy(output, dryRun, "hello")).not.toContain("thinkery ");
  expect(format({ capabilities: [], added: [] })[1]).toMatch(/^It is granted nothing; /);
});
