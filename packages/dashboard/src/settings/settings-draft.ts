import {
  type AgentSettings,
  explainInvalidValue,
  isThinkeryError,
  listOptions,
  type Setting,
  type SettingValue,
} from "@thinkery/sdk";
import { toSentence } from "../parts/form-errors.ts";

/** What the field of a setting contains: the state of a toggle, or text. */
export type FieldValue = string | boolean;

/** What a person entered and has not saved, by setting; `null` resets one to its default. */
export type SettingsDraft = ReadonlyMap<string, FieldValue | null>;

/** Errors by setting. */
export type SettingErrors = ReadonlyMap<string, string>;

export interface SettingsChange {
  settings: Record<string, SettingValue | null>;
  errors: SettingErrors;
}

type Saved = Pick<AgentSettings, "settings" | "set" | "schema">;

/** Returns what the field of a setting shows. */
export function getFieldValue(name: string, setting: Setting, saved: Saved, draft: SettingsDraft): FieldValue {
  const entered = draft.get(name);
  if (entered === null) return toFieldValue(setting, setting.default);
  return entered ?? toFieldValue(setting, readOwn(saved.settings, name));
}

/** Whether there is a value to reset: one that was set, or entered. */
export function isSet(name: string, setting: Setting, saved: Saved, draft: SettingsDraft): boolean {
  const entered = draft.get(name);
  if (entered === null) return false;
  if (Object.hasOwn(saved.set, name)) return true;
  return entered !== undefined && entered !== toFieldValue(setting, readOwn(saved.settings, name));
}

/** Returns what a draft changes compared with what is saved now, and what is wrong with it. */
export function readDraft(saved: Saved, draft: SettingsDraft): SettingsChange {
  const settings: Record<string, SettingValue | null> = {};
  const errors = new Map<string, string>();
  for (const [name, entered] of draft) {
    const setting = readOwn(saved.schema, name);
    // A new version of the code may have removed it meanwhile.
    if (!setting) continue;
    if (entered === null) {
      if (Object.hasOwn(saved.set, name)) settings[name] = null;
      continue;
    }
    if (entered === toFieldValue(setting, readOwn(saved.settings, name))) continue;
    const value = parseFieldValue(setting, entered);
    settings[name] = value;
    const error = explainInvalidValue(setting, value);
    if (error) errors.set(name, toSentence(error));
  }
  return { settings, errors };
}

/** Assigns what the host found wrong to the settings it names. Returns undefined if it is about something else. */
export function findSettingErrors(error: unknown, names: readonly string[]): SettingErrors | undefined {
  const issues = isThinkeryError(error) ? (error.details?.issues ?? []) : [];
  const errors = new Map<string, string>();
  for (const { path, message } of issues) {
    const name = path.map(String).findLast((part) => names.includes(part));
    if (name === undefined) return undefined;
    if (!errors.has(name)) errors.set(name, toSentence(message));
  }
  return errors.size > 0 ? errors : undefined;
}

const maxDefaultChars = 80;

/** Describes what a setting allows and its default: “From 0 to 2. Default: 0.7”. */
export function describeSetting(setting: Setting): string {
  const { default: value } = setting;
  return [describeLimits(setting), value !== undefined && `Default: ${describeValue(setting, value)}`]
    .filter(Boolean)
    .join(" ");
}

/** A value as a person sees it. */
export function describeValue(setting: Setting, value: SettingValue): string {
  if (setting.type === "toggle") return value === true ? "on" : "off";
  if (setting.type === "select")
    return listOptions(setting).find((option) => option.value === value)?.label ?? String(value);
  const text = String(value);
  if (text === "") return "empty";
  return text.length > maxDefaultChars ? `${text.slice(0, maxDefaultChars)}…` : text;
}

function describeLimits(setting: Setting): string | undefined {
  if (setting.type === "text")
    return setting.maxLength === undefined ? undefined : `At most ${setting.maxLength} characters.`;
  if (setting.type !== "number") return undefined;
  const { min, max } = setting;
  if (min !== undefined && max !== undefined) return `From ${min} to ${max}.`;
  if (min !== undefined) return `At least ${min}.`;
  return max === undefined ? undefined : `At most ${max}.`;
}

function toFieldValue(setting: Setting, value: SettingValue | undefined): FieldValue {
  if (setting.type === "toggle") return value === true;
  return value === undefined ? "" : String(value);
}

/** An empty number is not zero, but not a number. */
function parseFieldValue(setting: Setting, entered: FieldValue): SettingValue {
  if (setting.type !== "number" || typeof entered !== "string") return entered;
  return entered.trim() === "" ? Number.NaN : Number(entered);
}

/** A setting may have the name of a method of all objects, such as `constructor`. */
function readOwn<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
