import type { AgentSettings, Setting, SettingValue } from "@thinkery/sdk";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { DescriptionList } from "../parts/description-list.tsx";
import { describeValue } from "./settings-draft.ts";

/** The settings of an agent, for people who may not change them. */
export function SettingsSummary({ saved: { schema, settings, set } }: { saved: AgentSettings }) {
  return (
    <>
      <DescriptionList
        of={Object.entries(schema).map(([name, setting]) => {
          const value = Object.hasOwn(settings, name) ? settings[name] : undefined;
          const note = value !== undefined && !Object.hasOwn(set, name) && <span className="faint"> default</span>;
          return [
            sanitizeText(setting.label ?? name),
            <span className="setting-description">
              {sanitizeText(formatValue(setting, value))}
              {note}
            </span>,
          ] as const;
        })}
      />
      <p className="faint">You have read-only access.</p>
    </>
  );
}

function formatValue(setting: Setting, value: SettingValue | undefined): string {
  if (value === undefined) return "not set";
  // A long text is shortened where it is only mentioned, but not here.
  return setting.type === "text" && value !== "" ? String(value) : describeValue(setting, value);
}
