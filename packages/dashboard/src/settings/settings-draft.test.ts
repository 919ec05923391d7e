import { fail, type SettingsSchema, type SettingValue } from "@thinkery/sdk";
import { expect, test } from "vitest";
import {
  describeSetting,
  type FieldValue,
  findSettingErrors,
  getFieldValue,
  isSet,
  readDraft,
  type SettingsDraft,
} from "./settings-draft.ts";

const schema = {
  model: { type: "select", options: "$roles", default: "fast" },
  temperature: { type: "number", min: 0, max: 2, step: 0.1, default: 0.7 },
  greeting: { type: "text", maxLength: 20 },
  loud: { type: "toggle", default: true },
  constructor: { type: "number" },
} as const satisfies SettingsSchema;

const save = (set: Record<string, SettingValue> = {}) => ({
  schema,
  set,
  settings: { model: "fast", temperature: 0.7, loud: true, ...set },
});
const enter = (fields: Record<string, FieldValue | null>): SettingsDraft => new Map(Object.entries(fields));
const read = (fields: Record<string, FieldValue | null>, saved = save()) => {
  const { settings, errors } = readDraft(saved, enter(fields));
  return { settings, errors: Object.fromEntries(errors) };
};

test("only what differs from what is saved is changed", () => {
  expect(read({ temperature: "0.9", greeting: "Hi", loud: false, model: "primary" }).settings).toEqual({
    temperature: 0.9,
    greeting: "Hi",
    loud: false,
    model: "primary",
  });
  expect(read({ temperature: "0.7", greeting: "", loud: true, model: "fast" }).settings).toEqual({});
});

test("what somebody else saved meanwhile is no change any more", () => {
  expect(read({ temperature: "0.9" }, save({ temperature: 0.9 })).settings).toEqual({});
  expect(read({ temperature: null }, save()).settings).toEqual({});
});

test("a setting is reset only if it was set", () => {
  expect(read({ temperature: null }, save({ temperature: 1 })).settings).toEqual({ temperature: null });
  const isTemperatureSet = (saved: ReturnType<typeof save>, fields: Record<string, FieldValue | null> = {}) =>
    isSet("temperature", schema.temperature, saved, enter(fields));
  expect(isTemperatureSet(save({ temperature: 1 }))).toBe(true);
  expect(isTemperatureSet(save({ temperature: 1 }), { temperature: null })).toBe(false);
  expect(isTemperatureSet(save())).toBe(false);
  expect(isTemperatureSet(save(), { temperature: "3" })).toBe(true);
  expect(isTemperatureSet(save(), { temperature: "0.7" })).toBe(false);
});

test("a field shows what was entered, else what is saved, else the default", () => {
  const show = (saved: ReturnType<typeof save>, fields: Record<string, FieldValue | null>) =>
    getFieldValue("temperature", schema.temperature, saved, enter(fields));
  expect(show(save(), {})).toBe("0.7");
  expect(show(save({ temperature: 1 }), {})).toBe("1");
  expect(show(save({ temperature: 1 }), { temperature: "" })).toBe("");
  expect(show(save({ temperature: 1 }), { temperature: null })).toBe("0.7");
  expect(getFieldValue("greeting", schema.greeting, save(), enter({}))).toBe("");
  expect(getFieldValue("loud", schema.loud, save({ loud: false }), enter({}))).toBe(false);
});

test("invalid values are explained at their fields", () => {
  expect(read({ temperature: "99" }).errors).toEqual({ temperature: "Expected at most 2, not 99." });
  expect(read({ temperature: " " }).errors).toEqual({ temperature: "Expected a number." });
  expect(read({ temperature: "0.75" }).errors).toEqual({ temperature: "Expected a multiple of 0.1." });
  expect(read({ greeting: "x".repeat(21) }).errors).toEqual({ greeting: "Expected at most 20 characters, not 21." });
  expect(read({ model: "other" }).errors.model).toMatch(/^Expected one of primary, fast/);
});

test("a setting that a new version removed is ignored, and so are methods of all objects", () => {
  expect(read({ removed: "1", toString: "1" })).toEqual({ settings: {}, errors: {} });
  expect(getFieldValue("constructor", schema.constructor, save(), enter({}))).toBe("");
  expect(read({ constructor: "4" }).settings).toEqual({ constructor: 4 });
});

test("what the host finds wrong is shown at the setting it names, wherever it stands in the path", () => {
  const names = Object.keys(schema);
  const refuse = (...path: string[]) => fail("bad_request", "No.", { issues: [{ path, message: "too hot" }] });
  for (const path of [["temperature"], ["settings", "temperature"]])
    expect(findSettingErrors(refuse(...path), names)).toEqual(new Map([["temperature", "Too hot."]]));
  expect(findSettingErrors(refuse("settings", "other"), names)).toBeUndefined();
  expect(findSettingErrors(fail("conflict", "No."), names)).toBeUndefined();
  expect(findSettingErrors(new Error("No."), names)).toBeUndefined();
});

test("limits and the default are described", () => {
  expect(describeSetting(schema.temperature)).toBe("From 0 to 2. Default: 0.7");
  expect(describeSetting({ type: "number", min: 1 })).toBe("At least 1.");
  expect(describeSetting({ type: "toggle", default: false })).toBe("Default: off");
  expect(describeSetting({ type: "text", default: "" })).toBe("Default: empty");
  const options = [{ value: "a", label: "The first" }];
  expect(describeSetting({ type: "select", options, default: "a" })).toBe("Default: The first");
});
