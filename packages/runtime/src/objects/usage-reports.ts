import { isThinkeryError } from "@thinkery/sdk";
import type { UsageReport } from "../store/usage-totals.ts";
import type { Env } from "./env.ts";

/** A statement on its way to an agency. */
export interface ReportDelivery {
  agency: string;
  report: UsageReport;
  /** It was heard; the agency may want to hear of all days. */
  onDelivered(incomplete: boolean): void;
}

/** So long statements are gathered: many agents' are sent in one, and of each only its last. */
const flushDelayMs = 500;
/** Whoever set the timer may be gone, and the timer with them. */
const maxTimerLagMs = 1_000;

/**
 * What the agents of this isolate have to say to their agencies and are in no hurry about: by agency and agent. Totals
 * that are read in another isolate lack it for `flushDelayMs`, or until an agent's next beat if whoever set the timer is
 * gone. Budgets do not depend on it: an agent that has one asks its agency before each call.
 */
const pendingReports = new Map<string, Map<string, ReportDelivery>>();
let flushDueAt = 0;

export function queueReport(env: Env, sending: ReportDelivery): void {
  let all = pendingReports.get(sending.agency);
  if (!all) pendingReports.set(sending.agency, (all = new Map()));
  all.set(sending.report.name, sending);
  const now = Date.now();
  if (now < flushDueAt + maxTimerLagMs) return;
  flushDueAt = now + flushDelayMs;
  setTimeout(() => void flushReports(env), flushDelayMs);
}

/** Sends all that was gathered in this isolate, for whoever is about to read totals. What does not arrive is said again by its agent's next beat. */
export async function flushReports(env: Env): Promise<void> {
  flushDueAt = 0;
  const all = [...pendingReports];
  pendingReports.clear();
  await Promise.all(all.map(([agency, sendings]) => sendReports(env, agency, [...sendings.values()])));
}

/** For a statement that others wait for. */
export async function sendReport(env: Env, sending: ReportDelivery): Promise<void> {
  pendingReports.get(sending.agency)?.delete(sending.report.name);
  await sendReports(env, sending.agency, [sending]);
}

async function sendReports(env: Env, agency: string, all: readonly ReportDelivery[]): Promise<void> {
  if (all.length === 0) return;
  try {
    const incomplete = await env.Agency.getByName(agency).reportUsageBatch(all.map(({ report }) => report));
    for (const { report, onDelivered } of all) onDelivered(incomplete.includes(report.name));
  } catch (error) {
    // An agency that is gone keeps no books.
    const isGone = isThinkeryError(error) && error.code === "not_found";
    if (isGone) for (const { onDelivered } of all) onDelivered(false);
    else console.error("statements did not arrive", error);
  }
}
