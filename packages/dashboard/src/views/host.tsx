import type { Health } from "@thinkery/sdk";
import type { ReactNode } from "react";
import { health } from "../api/health.ts";
import { useSource } from "../api/source.ts";
import { formatCount } from "../parts/amount.ts";
import { Uptime } from "../parts/date-time.tsx";
import { DescriptionList } from "../parts/description-list.tsx";
import { Notice } from "../parts/notice.tsx";
import { NoModel } from "./no-model.tsx";
import { SlotTable } from "./slot-table.tsx";

/** Status of the host: version, uptime, models and sandboxes. */
export function HostPanel() {
  const { value, at, error } = useSource(health);
  return (
    <section aria-labelledby="host">
      <div className="section-head">
        <h2 id="host">Host</h2>
      </div>
      {error && (
        <Notice tone="warn" title={error.message} onRetry={() => void health.reload()}>
          {value ? "Showing the last known status." : "No status yet."}
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
    ["Uptime", state.uptime === undefined ? "unknown" : <Uptime seconds={state.uptime} at={at} />],
    ["Models", models.length > 0 ? <Badges labels={models} /> : "none configured"],
    ["Restarts", state.restarts ? `${state.restarts} since start` : "none since start"],
    [
      "Contents",
      `${formatCount(state.agencies ?? 0, "agency", "agencies")}, ${formatCount(state.agents ?? 0, "agent")}`,
    ],
    ["Process ID", <span className="mono">{state.pid}</span>],
  ];
}

function Badges({ labels }: { labels: string[] }) {
  return (
    <ul className="badges">
      {labels.map((label) => (
        <li key={label} className="badge">
          {label}
        </li>
      ))}
    </ul>
  );
}
