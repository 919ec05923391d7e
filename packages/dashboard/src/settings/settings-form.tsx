import type { AgentSettings } from "@thinkery/sdk";
import { type FormEvent, useRef, useState } from "react";
import type { AgentParams } from "../api/agent-code.ts";
import { call } from "../api/host.ts";
import { getErrorMessage } from "../api/login.ts";
import type { Source } from "../api/source.ts";
import { announce } from "../frame/announce.tsx";
import { formatCount } from "../parts/amount.ts";
import { Button } from "../parts/button.tsx";
import { Notice } from "../parts/notice.tsx";
import { SettingField } from "./setting-field.tsx";
import {
  type FieldValue,
  findSettingErrors,
  getFieldValue,
  isSet,
  readDraft,
  type SettingErrors,
  type SettingsDraft,
} from "./settings-draft.ts";

interface SettingsFormProps extends AgentParams {
  /** What is saved, kept up to date. */
  saved: AgentSettings;
  source: Source<AgentSettings>;
}

const noDraft: SettingsDraft = new Map();
const noErrors: SettingErrors = new Map();

/** A form drawn from the schema of the settings. What was entered stays while the saved values are polled. */
export function SettingsForm({ agency, agent, saved, source }: SettingsFormProps) {
  const [draft, setDraft] = useState(noDraft);
  // Errors appear with the first attempt to save, and then change with what is entered. Not when a field is left: the
  // button would move away from under the pointer.
  const [isChecked, setIsChecked] = useState(false);
  const [refused, setRefused] = useState(noErrors);
  const [failure, setFailure] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [isSaved, setIsSaved] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { settings, errors } = readDraft(saved, draft);
  const names = Object.keys(settings);

  const change = (name: string, value: FieldValue | null) => {
    setDraft(new Map(draft).set(name, value));
    setRefused((before) => new Map([...before].filter(([other]) => other !== name)));
    setIsSaved(false);
  };
  const discard = () => {
    setDraft(noDraft);
    setIsChecked(false);
    setRefused(noErrors);
    setFailure(undefined);
  };
  const focusError = () =>
    // The fields have their state after the next render.
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus());

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || names.length === 0) return;
    setFailure(undefined);
    setIsChecked(errors.size > 0);
    if (errors.size > 0) return void focusError();
    setBusy(true);
    try {
      await call("putSettings", { params: { agency, agent }, body: { settings } });
      await source.reload();
      // What was entered while it was being saved stays; and all of it, unless it is known what is saved now.
      if (!source.get().error)
        setDraft((now) => new Map([...now].filter(([name, value]) => draft.get(name) !== value)));
      setIsSaved(true);
      announce("Settings saved.");
    } catch (error) {
      const found = findSettingErrors(error, Object.keys(saved.schema));
      if (found) {
        setRefused(found);
        focusError();
      } else setFailure(getErrorMessage(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <form ref={form} className="form settings" onSubmit={(event) => void save(event)} noValidate>
      {Object.entries(saved.schema).map(([name, setting]) => (
        <SettingField
          key={`${name} ${setting.type}`}
          name={name}
          setting={setting}
          value={getFieldValue(name, setting, saved, draft)}
          isSet={isSet(name, setting, saved, draft)}
          isChanged={names.includes(name)}
          error={refused.get(name) ?? (isChecked ? errors.get(name) : undefined)}
          onChange={(value) => change(name, value)}
          onReset={() => change(name, null)}
        />
      ))}
      <div role="alert">{failure && <Notice tone="bad">{failure}</Notice>}</div>
      <div className="settings-bar">
        <p role="status">{names.length > 0 ? formatCount(names.length, "unsaved change") : isSaved ? "Saved" : ""}</p>
        {names.length > 0 && (
          <Button kind="quiet" disabled={busy} onClick={discard}>
            Discard
          </Button>
        )}
        <Button type="submit" kind="main" busy={busy} disabled={names.length === 0}>
          Save
        </Button>
      </div>
    </form>
  );
}
