import type { Workflow } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { checkVariables, parseVariables } from "./variables.ts";

test("variables are split at the first =, and the last one of a name wins", () => {
  expect(parseVariables(["a=1", "b=x=y", "c=", "a=2"])).toEqual({ a: "2", b: "x=y", c: "" });
  expect(() => parseVariables(["a"])).toThrow("“a” is not a variable. Pass --var name=value.");
  expect(() => parseVariables(["=1"])).toThrow("“=1” is not a variable");
});

const workflow: Workflow = { name: "review", agents: { a: {} }, vars: { branch: "main" }, kickoff: "${{ vars.pr }}" };

test("a variable has to be one that the workflow declares or uses", () => {
  expect(() => checkVariables(workflow, { branch: "x", pr: 1 })).not.toThrow();
  expect(() => checkVariables(workflow, { brnach: "x" })).toThrow(
    "The workflow review has no variable “brnach”. Did you mean --var branch=…?",
  );
  expect(() => checkVariables(workflow, { zebra: "x" })).toThrow("Its variables are branch, pr.");
  expect(() => checkVariables({ name: "x", agents: { a: {} } }, { zebra: "x" })).toThrow("It has none.");
});
