import { useEffect, useMemo, useState } from "react";
import { getWorkspaceKey, type Workspace } from "../../api/workspace.ts";
import { hasUnsentEdits, type LiveSession, openLiveSession } from "./live-session.ts";

interface SharedSession {
  live: LiveSession;
  userCount: number;
  closeTimer?: ReturnType<typeof setTimeout> | undefined;
}

const sessions = new Map<string, SharedSession>();

/** Keeps the connection open while the user switches files. */
const closeDelayMs = 2_000;

/** Shares one session per workspace. `renew` starts a new session and discards unsent edits. */
export function useLiveSession(
  { agency, agent, branch }: Workspace,
  user: string,
): { live: LiveSession | undefined; renew(): void } {
  const key = [user, getWorkspaceKey({ agency, agent }), branch ?? ""].join("\0");
  const [live, setLive] = useState<LiveSession>();
  const [round, setRound] = useState(0);

  useEffect(() => {
    let session = sessions.get(key);
    if (!session)
      sessions.set(key, (session = { live: openLiveSession({ agency, agent, branch }, user), userCount: 0 }));
    const { live } = session;
    clearTimeout(session.closeTimer);
    session.userCount++;
    setLive(live);
    return () => {
      setLive(undefined);
      if (session.userCount-- === 1) releaseSession(key, session);
    };
  }, [key, round, agency, agent, branch, user]);

  const renew = useMemo(
    () => () => {
      // The old session is closed when its last user releases it.
      sessions.delete(key);
      setRound((before) => before + 1);
    },
    [key],
  );
  return { live, renew };
}

/** Closes a session without users, after its unsent edits have been sent. */
function releaseSession(key: string, session: SharedSession): void {
  if (sessions.get(key) !== session) return session.live.close();
  session.closeTimer = setTimeout(() => {
    if (hasUnsentEdits(session.live.state.get())) return releaseSession(key, session);
    sessions.delete(key);
    session.live.close();
  }, closeDelayMs);
}
