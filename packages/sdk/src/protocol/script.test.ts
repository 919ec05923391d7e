import { expect, test } from "vitest";
import { validateScript } from "./script.ts";

const listPaths = (input: unknown) => validateScript(input).issues?.map(({ path }) => path.join("."));

test("a list, an object, aliases and a single step are parsed as the same script", () => {
  const full = { pace: 0, exchanges: [{ when: "hi", steps: [{ text: "hello" }] }] };
  for (const input of [
    full,
    full.exchanges,
    JSON.parse('[{ "pattern": "hi", "then": [{ "text": "hello" }] }]'),
    [{ when: "hi", text: "hello" }],
  ]) {
    expect(validateScript(input)).toEqual({ script: full });
  }
});

test("numbers are converted to text, and a bare number is a status", () => {
  expect(validateScript([{ text: 42 }, { fail: 503 }]).script?.exchanges).toEqual([
    { steps: [{ text: "42" }] },
    { steps: [{ fail: { status: 503 } }] },
  ]);
});

test("the paths of issues refer to the input as it was written", () => {
  expect(listPaths([{ steps: [{ txt: "x" }] }])).toEqual(["0.steps.0.txt"]);
  expect(listPaths(JSON.parse('[{ "then": [{ "text": "a" }, { "call": { "input": {} } }] }]'))).toEqual([
    "0.then.1.call.tool",
  ]);
  expect(listPaths([{ text: "a" }, { wait: -1 }])).toEqual(["1.wait"]);
  expect(listPaths({ exchanges: [{ steps: "x" }] })).toEqual(["exchanges.0.steps"]);
  expect(listPaths([{ pattern: [], text: "x" }])).toEqual(["0.pattern"]);
  expect(listPaths({ exchanges: [] })).toEqual(["exchanges"]);
  expect(listPaths([])).toEqual([""]);
  expect(listPaths("text")).toEqual([""]);
  expect(listPaths(null)).toEqual([""]);
  expect(listPaths([{ fail: { status: 200 } }])).toEqual(["0.fail.status"]);
});

test("an unknown expression is named, even deep in an input", () => {
  expect(validateScript([{ text: "{{ mesage }}" }]).issues?.[0]?.message).toContain("{{ mesage }}");
  expect(
    validateScript([{ call: { tool: "t", input: { a: [{ b: "{{ env.HOME }}" }] } } }]).issues?.[0]?.message,
  ).toContain("env.HOME");
  expect(
    validateScript([{ text: "{{message}} {{ results.0 }} {{ results.my-tool.a.0.b }} {{ turn }}" }]).issues,
  ).toBeUndefined();
});
