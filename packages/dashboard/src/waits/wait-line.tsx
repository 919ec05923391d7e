import type { Continuation } from "@thinkery/sdk";
import { showControlChars } from "../chat/blocks.ts";
import { useNow } from "../parts/date-time.tsx";
import { formatUntil } from "../parts/duration.ts";
import { Icon } from "../parts/icon.tsx";
import { describeWait } from "./describe-wait.ts";

/** A turn that waits for a time or a webhook. */
export function WaitLine({ wait }: { wait: Continuation }) {
  const now = useNow(1000);
  const left = wait.dueAt === undefined ? undefined : Date.parse(wait.dueAt) - now;
  return (
    <aside className="note" data-note="wait">
      <Icon name={wait.kind === "webhook" ? "webhook" : "hourglass"} />
      <p>
        {showControlChars(describeWait(wait, now))}
        {wait.kind === "timer" && left !== undefined && <span className="faint"> ({formatUntil(left)})</span>}
      </p>
    </aside>
  );
}
