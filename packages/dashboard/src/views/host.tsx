import type { Health } from "@thinkery/sdk";
import type { ReactNode } from "react";
import { health } from "../api/health.ts";
import { useSource } from "../api/source.ts";
import { Uptime } from "../parts/date-time.tsx";
import { DescriptionList } from "../parts/description-list.tsx";
import { Notice } from "../parts/notice.tsx";
import { NoModel } from "./no-model.tsx";
import { SlotTable } from "./slot-table.tsx";

/** How the host is: what it runs, since when, and which models it can reach. */
export function HostPanel() {
  const { value, at, error } = useSource(health);
  return (
    <section aria-labelledby="host">
      <div className="section-head">
        <h2 id="host">Host</h2>
      </div>
      {error && (
        <Notice tone="warn" title={error.message} onRetry={() => void health.reload()}>
          {value ? "Below is what it said last." : "Nothing is known about it yet."}
        </Notice>
      )}
      {value?.models?.configured.length === 0 && <NoModel />}
      {value?.version && <DescriptionList of={buildRows(value, at ?? 0)} />}
      {value?.sandboxes && <SlotTable slots={value.sandboxes} waiting={value.waitingRuns ?? 0} />}
    </section>
  );
}

function buildRows(state: Health, at: number): (readonly [string, ReactNode])[] {
  const models = state.models?.configured ?? [];
  return [
    ["Version", <span className="mono">{state.version}</span>],
    ["Up for", state.uptime === undefined ? "unknown" : <Uptime seconds={state.uptime} at={at} />],
    ["Models", models.length > 0 ? <Badges words={models} /> : "none configured"],
    ["Restarts", state.restarts ? `${state.restarts} since the start` : "none since the start"],
    [
      "Holds",
      `${pluralize(state.agencies ?? 0, "agency", "agencies")}, ${pluralize(state.agents ?? 0, "agent", "agents")}`,
    ],
    ["Process", <span className="mono">{state.pid}</span>],
  ];
}

function Badges({ words }: { words: string[] }) {
  return (
    <ul className="badges">
      {words.map((word) => (
        <li key={word} className="badge">
          {word}
        </li>
      ))}
    </ul>
  );
}

function pluralize(many: number, one: string, more: string): string {
  return `${many} ${many === 1 ? one : more}`;
}
