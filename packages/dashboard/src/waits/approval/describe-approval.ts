import type { Approval, AskedCall, RememberScope } from "@thinkery/sdk";

/** A kind of calls that would not be asked about again. */
export interface RememberedCalls {
  tool: string;
  /** What the input must match. Without it, every call of the tool. */
  match?: string;
}

/** What `remember` allows, each kind of call once. Only calls that run as they were asked are remembered. */
export function listRemembered<Call extends Pick<AskedCall, "name" | "remember">>(
  calls: readonly Call[],
  isChanged: (call: Call) => boolean,
): RememberedCalls[] {
  const kinds = new Map<string, RememberedCalls>();
  for (const call of calls) {
    if (isChanged(call)) continue;
    const { name, remember } = call;
    kinds.set(`${name}\0${remember ?? ""}`, { tool: name, ...(remember === undefined ? {} : { match: remember }) });
  }
  return [...kinds.values()];
}

/** For whom an answer is remembered. */
export function describeRememberScope(scope: RememberScope, agent: string, agency: string): string {
  if (scope === "once") return "No, ask again";
  return scope === "agent" ? `For ${agent} and its sub-agents` : `For all agents in ${agency}`;
}

/** The tools of calls, each once: `bash, writeFile`. */
export const nameTools = (calls: readonly Pick<AskedCall, "name">[]): string =>
  [...new Set(calls.map(({ name }) => name))].join(", ");

/** How an approval was answered, in one sentence. */
export function describeOutcome({ status, calls, answeredBy, reason }: Approval): string {
  const by = answeredBy === undefined ? "" : ` by ${answeredBy}`;
  if (status === "expired") return "Expired: nobody answered in time, or the turn ended.";
  const denied = calls.filter(({ decision }) => decision?.approved === false).length;
  if (status === "approved" && denied > 0 && denied < calls.length) {
    return `${calls.length - denied} of ${calls.length} calls approved${by}`;
  }
  if (status === "denied") {
    const why = reason ?? calls.find(({ decision }) => decision?.reason !== undefined)?.decision?.reason;
    return `Denied${by}${why ? `: ${why}` : ""}`;
  }
  return status === "approved" ? `Approved${by}` : "Partly answered";
}

/** How a single call was decided. */
export function describeDecision({ approved, input, result, reason }: NonNullable<AskedCall["decision"]>): string {
  if (!approved) return reason ? `Denied: ${reason}` : "Denied";
  if (result !== undefined) return "Answered in the tool’s place";
  return input === undefined ? "Approved" : "Approved with changes";
}
