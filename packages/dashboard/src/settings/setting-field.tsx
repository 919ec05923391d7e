import { listOptions, type NumberSetting, type SelectSetting, type Setting } from "@thinkery/sdk";
import type { ComponentProps } from "react";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Field } from "../parts/field.tsx";
import { describeSetting, type FieldValue } from "./settings-draft.ts";

interface SettingFieldProps {
  name: string;
  setting: Setting;
  value: FieldValue;
  /** Whether it has a value other than its default that can be reset. */
  isSet: boolean;
  /** Whether its value is not saved. */
  isChanged: boolean;
  error: string | undefined;
  onChange(value: FieldValue): void;
  onReset(): void;
}

/** A setting with its input, what it is for, and a way back to its default. */
export function SettingField(props: SettingFieldProps) {
  const { name, setting, isSet, isChanged, error, onReset } = props;
  const label = sanitizeText(setting.label ?? name);
  const description = setting.description && sanitizeText(setting.description);
  const limits = sanitizeText(describeSetting(setting));
  return (
    <div className="setting" data-setting={name} data-changed={isChanged || undefined}>
      <Field
        label={label}
        error={error}
        hint={
          (description || limits) && (
            <>
              {description && <span className="setting-description">{description}</span>}
              {limits && <span>{limits}</span>}
            </>
          )
        }
      >
        {(field) => <SettingInput {...props} label={label} field={field} />}
      </Field>
      {(isChanged || isSet) && (
        <p className="setting-foot">
          {isChanged && <span className="warn-text">Not saved</span>}
          {isSet && (
            <button
              type="button"
              className="text-button"
              aria-label={`Reset ${label} to its default`}
              onClick={onReset}
            >
              {setting.default === undefined ? "Unset" : "Reset to default"}
            </button>
          )}
        </p>
      )}
    </div>
  );
}

type FieldAttributes = Parameters<ComponentProps<typeof Field>["children"]>[0];

interface SettingInputProps extends SettingFieldProps {
  label: string;
  field: FieldAttributes;
}

function SettingInput({ setting, value, label, field, onChange }: SettingInputProps) {
  const text = String(value);
  switch (setting.type) {
    case "toggle":
      return (
        <input
          {...field}
          type="checkbox"
          role="switch"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
      );
    case "select":
      return <SelectInput setting={setting} value={text} field={field} onChange={onChange} />;
    case "number":
      return <NumberInput setting={setting} value={text} label={label} field={field} onChange={onChange} />;
    case "text":
      return setting.multiline ? (
        <textarea {...field} rows={4} dir="auto" value={text} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <input
          {...field}
          autoComplete="off"
          dir="auto"
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      );
  }
}

interface ValueInputProps<S extends Setting> {
  setting: S;
  value: string;
  field: FieldAttributes;
  onChange(value: string): void;
}

function SelectInput({ setting, value, field, onChange }: ValueInputProps<SelectSetting>) {
  return (
    <select {...field} value={value} onChange={(event) => onChange(event.target.value)}>
      {value === "" && <option value="">Not set</option>}
      {listOptions(setting).map((option) => (
        <option key={option.value} value={option.value}>
          {sanitizeText(option.label)}
        </option>
      ))}
    </select>
  );
}

/** A number as text; with a slider if it has a range. */
function NumberInput({ setting, value, label, field, onChange }: ValueInputProps<NumberSetting> & { label: string }) {
  const { min, max, step = "any" } = setting;
  const limits = { min, max, step };
  return (
    <div className="setting-number">
      {min !== undefined && max !== undefined && max > min && (
        <input
          {...limits}
          type="range"
          aria-label={`${label}, slider`}
          value={value === "" ? min : value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      <input
        {...field}
        {...limits}
        type="number"
        inputMode="decimal"
        autoComplete="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
