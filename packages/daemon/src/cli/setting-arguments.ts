import {
  explainInvalidValue,
  fail,
  listOptions,
  type Setting,
  type SettingsSchema,
  type SettingValue,
  type ValidationIssue,
} from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";

const toggles: Record<string, boolean> = { true: true, on: true, yes: true, false: false, off: false, no: false };

/** Parses `name=value` by the types of a schema, and `names` to reset. Throws an error with all issues. */
export function parseSettings(
  schema: SettingsSchema,
  assignments: readonly string[],
  names: readonly string[],
): Record<string, SettingValue | null> {
  const changes: Record<string, SettingValue | null> = {};
  const issues: ValidationIssue[] = [];
  for (const assignment of assignments) {
    const [, name = "", text = ""] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
    if (name === "") throw fail("bad_request", `“${assignment}” is not a setting; write name=value.`);
    const setting = findSetting(schema, name);
    if (!setting) {
      issues.push(createUnknownIssue(schema, name));
      continue;
    }
    const value = parseValue(setting, text);
    const message = explainInvalidValue(setting, value);
    const range = setting.type === "number" ? ` (${describeSetting(setting)})` : "";
    if (message) issues.push({ path: [name], message: message + range });
    changes[name] = value;
  }
  for (const name of names) {
    if (!findSetting(schema, name)) issues.push(createUnknownIssue(schema, name));
    else if (name in changes) issues.push({ path: [name], message: "is set and unset at once" });
    changes[name] = null;
  }
  const [first] = issues;
  if (first) throw fail("bad_request", `Invalid setting ${first.path[0]}: ${first.message}`, { issues });
  return changes;
}

function findSetting(schema: SettingsSchema, name: string): Setting | undefined {
  return Object.hasOwn(schema, name) ? schema[name] : undefined;
}

function createUnknownIssue(schema: SettingsSchema, name: string): ValidationIssue {
  const known = Object.keys(schema);
  const suggestion = findNearest(name, known);
  const list = known.length > 0 ? `there are ${known.join(", ")}` : "the agent has none";
  return { path: [name], message: `unknown setting; ${suggestion ? `did you mean ${suggestion}?` : list}` };
}

/** Returns the text itself where it is not of the setting's type. */
function parseValue({ type }: Setting, text: string): SettingValue {
  if (type === "number" && text.trim() !== "") {
    const value = Number(text);
    return Number.isNaN(value) ? text : value;
  }
  if (type === "toggle") return toggles[text.toLowerCase()] ?? text;
  return text;
}

/** Describes the values that a setting may have. */
export function describeSetting(setting: Setting): string {
  switch (setting.type) {
    case "toggle":
      return "true or false";
    case "select":
      return listOptions(setting)
        .map(({ value }) => value)
        .join(", ");
    case "text":
      return setting.maxLength === undefined ? "text" : `text, at most ${setting.maxLength} characters`;
    case "number":
      return [describeRange(setting), setting.step === undefined ? "" : `in steps of ${setting.step}`]
        .filter(Boolean)
        .join(", ");
  }
}

function describeRange({ min, max }: { min?: number; max?: number }): string {
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  if (min !== undefined) return `at least ${min}`;
  return max === undefined ? "a number" : `at most ${max}`;
}
