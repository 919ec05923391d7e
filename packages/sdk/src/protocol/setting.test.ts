import { expect, test } from "vitest";
import {
  fillSettings,
  findSettingIssues,
  listOptions,
  type SettingsSchema,
  standardSettings,
} from "./setting-values.ts";
import { settingsSchemaSchema } from "./setting.ts";

const schema: SettingsSchema = {
  ...standardSettings,
  tone: { type: "text", maxLength: 5 },
  loud: { type: "toggle", default: false },
  size: { type: "select", options: ["s", { value: "l", label: "Large" }] },
};

test("the standard settings have the documented defaults", () => {
  expect(fillSettings(standardSettings, {})).toEqual({
    model: "fast",
    temperature: 0.7,
    maxSteps: 5,
    maxOutputTokens: 1024,
    thinkingBudget: 0,
  });
  expect(listOptions(standardSettings.model).map(({ value }) => value)).toEqual([
    "primary",
    "fast",
    "summarizer",
    "vision",
  ]);
});

test("values that a new version of the schema no longer allows fall back to the default", () => {
  const values = { temperature: 9, model: "gone", loud: true, tone: "hi", removed: 1, constructor: "x" };
  expect(fillSettings(schema, values)).toEqual({
    ...fillSettings(standardSettings, {}),
    loud: true,
    tone: "hi",
  });
});

test.each([
  [{ temperature: 3 }, "expected at most 2, not 3"],
  [{ temperature: 0.25 }, "expected a multiple of 0.1"],
  [{ temperature: "1" }, "expected a number"],
  [{ maxSteps: 0 }, "expected at least 1, not 0"],
  [{ maxSteps: 1.5 }, "expected a multiple of 1"],
  [{ loud: "yes" }, "expected true or false"],
  [{ tone: "a long tone" }, "expected at most 5 characters, not 11"],
  [{ size: "m" }, "expected one of s, l"],
  [{ toString: "x" }, /unknown setting; there are model, /],
])("%j is refused: %s", (values, message) => {
  expect(findSettingIssues(schema, values)).toEqual([
    { path: Object.keys(values), message: expect.stringMatching(message) },
  ]);
});

test("valid values, and null to remove one, are accepted", () => {
  expect(findSettingIssues(schema, { temperature: 0.3, size: "l", loud: null, model: "vision" })).toEqual([]);
});

test("a schema is checked with its defaults", () => {
  expect(settingsSchemaSchema.safeParse(schema).success).toBe(true);
  const issues = (value: object) =>
    settingsSchemaSchema.safeParse(value).error?.issues.map(({ path }) => path.join("."));
  expect(issues({ n: { type: "number", min: 1, default: 0 } })).toEqual(["n.default"]);
  expect(issues({ s: { type: "select", options: ["a"], default: "b" } })).toEqual(["s.default"]);
  expect(issues({ "not a name": { type: "toggle" } })).toEqual(["not a name"]);
  expect(issues({ x: { type: "colour" } })).toEqual(["x.type"]);
  expect(issues({ x: { type: "text", min: 1 } })).toEqual(["x"]);
});
