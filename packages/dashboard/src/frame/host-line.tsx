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
  lost: "Host does not answer",
};
const tones: Record<Connection, string> = { connecting: "quiet", live: "ok", late: "warn", lost: "bad" };

/** The host in two lines, at the foot of the tree. */
export function HostLine({ connection }: { connection: Connection }) {
  const { value, at } = useSource(health);
  const ready = value?.sandboxes?.filter((slot) => slot.state === "ready").length ?? 0;
  const models = value?.models?.configured;
  return (
    <Link className="host-line" href={homePath} title="How the host is">
      <span className="host-line-first">
        <span className="dot" data-tone={tones[connection]} data-busy={connection === "late" || undefined} />
        {labels[connection]}
        {connection === "live" && value?.uptime !== undefined && at !== undefined && (
          <span className="faint">
            <Uptime seconds={value.uptime} at={at} />
          </span>
        )}
      </span>
      {value?.version && (
        <span className="host-line-second">
          {shortenVersion(value.version)} · {ready} of {value.sandboxes?.length ?? 0} sandboxes
        </span>
      )}
      {models && (
        <span className="host-line-second">
          {models.length > 0 ? models.join(", ") : <span className="warn-text">no model key is set</span>}
        </span>
      )}
    </Link>
  );
}
