import type { AgentStore } from "../store/agent-store.ts";

/** How long a turn has been worked on, in ms, from its log: neither while it was paused nor while the host was down. */
export function elapsedIn(store: AgentStore, runId: string): number {
  let worked = 0;
  let last: number | undefined;
  for (let after = (store.turns.get(runId)?.number ?? 1) - 1; ; ) {
    const events = store.log.read(after, 1000);
    for (const { type, ts, data } of events) {
      if (!("runId" in data) || data.runId !== runId || type === "request.accepted") continue;
      const at = Date.parse(ts);
      if (last !== undefined && type !== "run.resumed") worked += Math.max(0, at - last);
      last = at;
    }
    const next = events.at(-1)?.seq;
    if (next === undefined) return worked;
    after = next;
  }
}
