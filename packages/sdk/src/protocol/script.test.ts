import { expect, test } from "vitest";
import { validateScript } from "./script.ts";

const listPaths = (written: unknown) => validateScript(written).problems?.map(({ path }) => path.join("."));

test("a list, an object, other words and a step alone are the same script", () => {
  const full = { pace: 0, exchanges: [{ when: "hi", steps: [{ text: "hello" }] }] };
  for (const written of [
    full,
    full.exchanges,
    JSON.parse('[{ "pattern": "hi", "then": [{ "text": "hello" }] }]'),
    [{ when: "hi", text: "hello" }],
  ]) {
    expect(validateScript(written)).toEqual({ script: full });
  }
});

test("numbers are text where text is meant, and a bare number is a status", () => {
  expect(validateScript([{ text: 42 }, { fail: 503 }]).script?.exchanges).toEqual([
    { steps: [{ text: "42" }] },
    { steps: [{ fail: { status: 503 } }] },
  ]);
});

test("problems have the path of what was written", () => {
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

test("an unknown expression is named, also deep in an input", () => {
  expect(validateScript([{ text: "{{ mesage }}" }]).problems?.[0]?.message).toContain("{{ mesage }}");
  expect(
    validateScript([{ call: { tool: "t", input: { a: [{ b: "{{ env.HOME }}" }] } } }]).problems?.[0]?.message,
  ).toContain("env.HOME");
  expect(
    validateScript([{ text: "{{message}} {{ results.0 }} {{ results.my-tool.a.0.b }} {{ turn }}" }]).problems,
  ).toBeUndefined();
});
