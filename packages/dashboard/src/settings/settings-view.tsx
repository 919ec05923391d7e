import { useMemo } from "react";
import { createSettingsSource } from "../api/agent-code.ts";
import { useHasScope } from "../api/login.ts";
import { useSource } from "../api/source.ts";
import { Empty } from "../parts/empty.tsx";
import { Notice } from "../parts/notice.tsx";
import "../styles/settings.css";
import { SettingsForm } from "./settings-form.tsx";
import { SettingsSummary } from "./settings-summary.tsx";

interface SettingsViewProps {
  agency: string;
  /** Name of the agent, or path of a sub-agent. */
  agent: string;
}

/** The settings that an agent's code declares. */
export function SettingsView({ agency, agent }: SettingsViewProps) {
  const source = useMemo(() => createSettingsSource({ agency, agent }), [agency, agent]);
  const { value, error } = useSource(source);
  const canChange = useHasScope("chat", agency);
  const count = value ? Object.keys(value.schema).length : 0;
  return (
    <article className="view">
      <section aria-labelledby="settings">
        <div className="section-head">
          <h2 id="settings">Settings</h2>
          {count > 0 && <p className="faint">They apply from its next message on.</p>}
        </div>
        {error && (
          <Notice
            tone={value ? "warn" : "bad"}
            title="Failed to load the settings"
            onRetry={() => void source.reload()}
          >
            {error.message}
          </Notice>
        )}
        {!value && !error && <p className="faint">Loading…</p>}
        {value && count === 0 && (
          <Empty title="No settings">
            <p>
              Its code declares none. With <code>settings</code> in <code>defineAgent</code>, people get a form for them
              here.
            </p>
          </Empty>
        )}
        {value &&
          count > 0 &&
          (canChange ? (
            <SettingsForm agency={agency} agent={agent} saved={value} source={source} />
          ) : (
            <SettingsSummary saved={value} />
          ))}
      </section>
    </article>
  );
}
