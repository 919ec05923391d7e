import { useEffect, useMemo, useState } from "react";
import type { Workspace } from "../../api/files.ts";
import { hasUnsentEdits, type LiveSession, openLiveSession } from "./live-session.ts";

interface SharedSession {
  live: LiveSession;
  userCount: number;
  closeTimer?: ReturnType<typeof setTimeout> | undefined;
}

const sessions = new Map<string, SharedSession>();

/** From one file to the next the connection stays. */
const closeDelayMs = 2_000;

/** One connection for a workspace, however many look. `renew` begins anew, without what was not sent. */
export function useLiveSession(
  { agency, agent, branch }: Workspace,
  user: string,
): { live: LiveSession | undefined; renew(): void } {
  const key = [user, agency, agent, branch ?? ""].join("\0");
  const [live, setLive] = useState<LiveSession>();
  const [round, setRound] = useState(0);

  useEffect(() => {
    let one = sessions.get(key);
    if (!one) sessions.set(key, (one = { live: openLiveSession({ agency, agent, branch }, user), userCount: 0 }));
    const { live } = one;
    clearTimeout(one.closeTimer);
    one.userCount++;
    setLive(live);
    return () => {
      setLive(undefined);
      if (one.userCount-- === 1) releaseSession(key, one);
    };
  }, [key, round, agency, agent, branch, user]);

  const renew = useMemo(
    () => () => {
      // It is closed when the one who looks has left it.
      sessions.delete(key);
      setRound((before) => before + 1);
    },
    [key],
  );
  return { live, renew };
}

/** Nobody looks any more. What the host does not have yet is sent first, though. */
function releaseSession(key: string, one: SharedSession): void {
  if (sessions.get(key) !== one) return one.live.close();
  one.closeTimer = setTimeout(() => {
    if (hasUnsentEdits(one.live.state.get())) return releaseSession(key, one);
    sessions.delete(key);
    one.live.close();
  }, closeDelayMs);
}
