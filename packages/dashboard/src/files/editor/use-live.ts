import { useEffect, useMemo, useState } from "react";
import type { Workspace } from "../../api/files.ts";
import { isOwed, type Live, openLive } from "./live.ts";

interface Kept {
  live: Live;
  lookers: number;
  end?: ReturnType<typeof setTimeout> | undefined;
}

const kept = new Map<string, Kept>();

/** From one file to the next the connection stays. */
const linger = 2_000;

/** One connection for a workspace, however many look. `renew` begins anew, without what was not sent. */
export function useLive({ agency, agent, branch }: Workspace, user: string): { live: Live | undefined; renew(): void } {
  const key = [user, agency, agent, branch ?? ""].join("\0");
  const [live, setLive] = useState<Live>();
  const [round, setRound] = useState(0);

  useEffect(() => {
    let one = kept.get(key);
    if (!one) kept.set(key, (one = { live: openLive({ agency, agent, branch }, user), lookers: 0 }));
    const { live } = one;
    clearTimeout(one.end);
    one.lookers++;
    setLive(live);
    return () => {
      setLive(undefined);
      if (one.lookers-- === 1) leave(key, one);
    };
  }, [key, round, agency, agent, branch, user]);

  const renew = useMemo(
    () => () => {
      // It is closed when the one who looks has left it.
      kept.delete(key);
      setRound((before) => before + 1);
    },
    [key],
  );
  return { live, renew };
}

/** Nobody looks any more. What the host does not have yet is sent first, though. */
function leave(key: string, one: Kept): void {
  if (kept.get(key) !== one) return one.live.close();
  one.end = setTimeout(() => {
    if (isOwed(one.live.state.get())) return leave(key, one);
    kept.delete(key);
    one.live.close();
  }, linger);
}
