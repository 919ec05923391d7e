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

/** `late`: the host answers but does not tell us of changes. `lost`: it does not answer. */
export function useConnection(user: string): Connection {
  const { connected } = useSource(getAgenciesSource(user));
  const { error } = useSource(health);

  useEffect(() => {
    if (connected === undefined) return;
    void health.reload();
    // A broken line may also mean that our login was ended.
    if (!connected) void checkLogin();
  }, [connected]);

  if (connected) return "live";
  if (error) return "lost";
  return connected === undefined ? "connecting" : "late";
}

/** Says when what is shown may no longer be true. A hiccup shorter than a blink is not worth a word. */
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
            <strong>{connection === "lost" ? "The host does not answer." : "Live updates are interrupted."}</strong>{" "}
            {at ? `You see what was true at ${formatClock(at)}. ` : ""}Trying again…
          </p>
          <Button
            kind="quiet"
            onClick={() => {
              reconnectAll();
              void health.reload();
            }}
          >
            Try now
          </Button>
        </div>
      )}
    </div>
  );
}
