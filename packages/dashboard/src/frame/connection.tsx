import { useEffect, useState } from "react";
import { getAgenciesSource } from "../api/agencies.ts";
import { reconnectAll } from "../api/follow.ts";
import { health } from "../api/health.ts";
import { checkLogin } from "../api/login.ts";
import { useSource } from "../api/source.ts";
import { Button } from "../parts/button.tsx";
import { formatClock } from "../parts/date-time.tsx";

export type Connection = "connecting" | "live" | "late" | "lost";

const bannerDelayMs = 700;

/** `late`: the host responds but live updates are down. `lost`: the host does not respond. */
export function useConnection(user: string): Connection {
  const { connected } = useSource(getAgenciesSource(user));
  const { error } = useSource(health);

  useEffect(() => {
    if (connected === undefined) return;
    void health.reload();
    // A closed connection may also mean that the session has ended.
    if (!connected) void checkLogin();
  }, [connected]);

  if (connected) return "live";
  if (error) return "lost";
  return connected === undefined ? "connecting" : "late";
}

/** Warns that the page may be out of date. Short interruptions are not shown. */
export function ConnectionBanner({ user, connection }: { user: string; connection: Connection }) {
  const { at } = useSource(getAgenciesSource(user));
  const broken = connection === "late" || connection === "lost";
  const [shown, setShown] = useState(false);

  useEffect(() => {
    if (!broken) return setShown(false);
    const timer = setTimeout(() => setShown(true), bannerDelayMs);
    return () => clearTimeout(timer);
  }, [broken]);

  return (
    <div role="status" aria-live="polite">
      {broken && shown && (
        <div className="banner">
          <span className="dot" data-tone="warn" data-busy />
          <p>
            <strong>{connection === "lost" ? "Host not responding." : "Live updates interrupted."}</strong>{" "}
            {at ? `Showing data from ${formatClock(at)}. ` : ""}Reconnecting…
          </p>
          <Button
            kind="quiet"
            onClick={() => {
              reconnectAll();
              void health.reload();
            }}
          >
            Retry now
          </Button>
        </div>
      )}
    </div>
  );
}
