import { health } from "../api/health.ts";
import { useSource } from "../api/source.ts";
import { shortenVersion, Uptime } from "../parts/date-time.tsx";
import type { Connection } from "./connection.tsx";
import { Link } from "./link.tsx";
import { homePath } from "./navigation.ts";

const labels: Record<Connection, string> = {
  connecting: "Connecting…",
  live: "Host is up",
  late: "Reconnecting…",
  lost: "Host not responding",
};
const tones: Record<Connection, string> = { connecting: "quiet", live: "ok", late: "warn", lost: "bad" };

/** Short status of the host at the bottom of the sidebar. */
export function HostStatus({ connection }: { connection: Connection }) {
  const { value, at } = useSource(health);
  const ready = value?.sandboxes?.filter((slot) => slot.state === "ready").length ?? 0;
  const models = value?.models?.configured;
  return (
    <Link className="host-status" href={homePath} title="Host status">
      <span className="host-status-first">
        <span className="dot" data-tone={tones[connection]} data-busy={connection === "late" || undefined} />
        {labels[connection]}
        {connection === "live" && value?.uptime !== undefined && at !== undefined && (
          <span className="faint">
            <Uptime seconds={value.uptime} at={at} />
          </span>
        )}
      </span>
      {value?.version && (
        <span className="host-status-second">
          {shortenVersion(value.version)} · {ready} of {value.sandboxes?.length ?? 0} sandboxes ready
        </span>
      )}
      {models && (
        <span className="host-status-second">
          {models.length > 0 ? models.join(", ") : <span className="warn-text">No API key set</span>}
        </span>
      )}
    </Link>
  );
}
