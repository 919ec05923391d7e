import { modelRoles } from "./choices.ts";

// Settings that an agent declares and people change. Without a validator, so that sandboxed code can use it.

export type SettingValue = string | number | boolean;

interface BaseSetting {
  /** Shown next to the field; defaults to its name. */
  label?: string;
  description?: string;
}

export interface SelectSetting extends BaseSetting {
  type: "select";
  /** `$roles` stands for the roles of models. */
  options: "$roles" | readonly (string | { value: string; label: string })[];
  default?: string;
}

export interface NumberSetting extends BaseSetting {
  type: "number";
  min?: number;
  max?: number;
  step?: number;
  default?: number;
}

export interface TextSetting extends BaseSetting {
  type: "text";
  maxLength?: number;
  /** Whether the form has several lines for it. */
  multiline?: boolean;
  default?: string;
}

export interface ToggleSetting extends BaseSetting {
  type: "toggle";
  default?: boolean;
}

export type Setting = SelectSetting | NumberSetting | TextSetting | ToggleSetting;

export type SettingsSchema = Readonly<Record<string, Setting>>;

type ValueOf<S extends Setting> = S extends { type: "number" }
  ? number
  : S extends { type: "toggle" }
    ? boolean
    : string;

/** The values of a schema as code reads them: settings with a default always have one. */
export type SettingValues<S extends SettingsSchema> = {
  readonly [K in keyof S]: S[K] extends { default: SettingValue } ? ValueOf<S[K]> : ValueOf<S[K]> | undefined;
};

/** Settings of most agents that call models. `ctx.ai` uses them unless a call says otherwise. */
export const standardSettings = {
  model: { type: "select", label: "Model", options: "$roles", default: "fast" },
  temperature: { type: "number", label: "Temperature", min: 0, max: 2, step: 0.1, default: 0.7 },
  maxSteps: { type: "number", label: "Maximum steps", min: 1, max: 20, step: 1, default: 5 },
  maxOutputTokens: { type: "number", label: "Maximum output tokens", min: 256, max: 32_000, step: 1, default: 1024 },
  thinkingBudget: { type: "number", label: "Thinking budget in tokens", min: 0, max: 32_000, step: 1, default: 0 },
} as const satisfies SettingsSchema;

/** Returns the options of a select. */
export function listOptions({ options }: SelectSetting): readonly { value: string; label: string }[] {
  const list = options === "$roles" ? modelRoles : options;
  return list.map((option) => (typeof option === "string" ? { value: option, label: option } : option));
}

/** Returns the values that apply: those that were set and are still valid, and defaults for all others. */
export function fillSettings(
  schema: SettingsSchema,
  values: Readonly<Record<string, unknown>>,
): Record<string, SettingValue> {
  const filled: Record<string, SettingValue> = {};
  for (const [name, setting] of Object.entries(schema)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const chosen = value === undefined || explainInvalidValue(setting, value) ? setting.default : value;
    if (chosen !== undefined) filled[name] = chosen as SettingValue;
  }
  return filled;
}

/** Returns what is wrong with values that somebody wants to set; `null` removes a value. */
export function findSettingIssues(
  schema: SettingsSchema,
  values: Readonly<Record<string, unknown>>,
): { path: string[]; message: string }[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const setting = Object.hasOwn(schema, name) ? schema[name] : undefined;
    if (!setting) {
      const names = Object.keys(schema);
      const message = `unknown setting; ${names.length > 0 ? `there are ${names.join(", ")}` : "the agent has none"}`;
      return [{ path: [name], message }];
    }
    const message = value === null ? undefined : explainInvalidValue(setting, value);
    return message ? [{ path: [name], message }] : [];
  });
}

/** Returns why a setting cannot have this value, if so. */
export function explainInvalidValue(setting: Setting, value: unknown): string | undefined {
  switch (setting.type) {
    case "toggle":
      return typeof value === "boolean" ? undefined : "expected true or false";
    case "text":
      return explainInvalidText(setting, value);
    case "number":
      return explainInvalidNumber(setting, value);
    case "select": {
      const options = listOptions(setting).map((option) => option.value);
      return options.includes(value as string) ? undefined : `expected one of ${options.join(", ")}`;
    }
  }
}

const maxTextChars = 10_000;

function explainInvalidText({ maxLength = maxTextChars }: TextSetting, value: unknown): string | undefined {
  if (typeof value !== "string") return "expected text";
  return value.length > maxLength ? `expected at most ${maxLength} characters, not ${value.length}` : undefined;
}

function explainInvalidNumber({ min, max, step }: NumberSetting, value: unknown): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return "expected a number";
  if (min !== undefined && value < min) return `expected at least ${min}, not ${value}`;
  if (max !== undefined && value > max) return `expected at most ${max}, not ${value}`;
  if (step === undefined) return undefined;
  // A multiple, but for the rounding of decimals such as 0.1.
  const steps = (value - (min ?? 0)) / step;
  return Math.abs(steps - Math.round(steps)) > 1e-6 ? `expected a multiple of ${step}` : undefined;
}
