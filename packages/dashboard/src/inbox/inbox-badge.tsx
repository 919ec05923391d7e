import { useEffect, useRef } from "react";
import { useWaitingCount } from "../api/inbox.ts";
import { announce } from "../frame/announce.tsx";
import { formatCount } from "../parts/amount.ts";

/** How many items wait in the inbox. Announced when there are more than before. */
export function InboxBadge({ user }: { user: string }) {
  const count = useWaitingCount(user);
  const last = useRef<number>(undefined);
  useEffect(() => {
    const before = last.current;
    last.current = count;
    if (before === undefined || count === undefined || count <= before) return;
    announce(`${formatCount(count, "item waits", "items wait")} in your inbox.`);
  }, [count]);
  return <InboxCount count={count ?? 0} />;
}

/** A number in a pill; nothing for zero. */
export function InboxCount({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <span className="inbox-count">
      {count > 99 ? "99+" : count}
      <span className="visually-hidden"> waiting</span>
    </span>
  );
}
