import { useNow } from "../parts/date-time.tsx";
import { formatUntil } from "../parts/duration.ts";
import { formatMoment } from "./describe-wait.ts";

/** When an item can no longer be answered. */
export function Expiry({ at }: { at: string }) {
  const now = useNow(30_000);
  const left = Date.parse(at) - now;
  return (
    <time className="expiry" dateTime={at} title={formatMoment(at, now)} data-soon={left < 3_600_000 || undefined}>
      {left > 0 ? `expires ${formatUntil(left)}` : "expired"}
    </time>
  );
}
