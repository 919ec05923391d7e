import { noWaits, type Waits } from "@thinkery/sdk";
import { createContext, useContext } from "react";
import type { AgentPlace } from "../api/inbox.ts";
import { describeWait } from "./describe-wait.ts";

/** What the open turns of an agent wait for. */
export interface AgentWaits extends AgentPlace {
  waits: Waits;
}

const context = createContext<AgentWaits>({ agency: "", agent: "", waits: noWaits });

/** Provides what the agent waits for whose conversation is shown. */
export const WaitsProvider = context.Provider;

export const useWaits = () => useContext(context);

/** What a call waits for, in a few words for its card; undefined if it is nothing that is known. */
export function useCallWait(callId: string): string | undefined {
  const { approvals, continuations } = useWaits().waits;
  const asked = approvals.flatMap(({ calls }) => calls).find(({ id }) => id === callId);
  if (asked) return asked.decision ? "decided, waits for others" : "needs approval";
  const continuation = continuations.find((one) => one.callId === callId);
  return continuation && describeWait(continuation, Date.now()).replace(/^W/, "w");
}
