import { isThinkeryError } from "@thinkery/sdk";
import type { UsageReport } from "../store/usage-totals.ts";
import type { Env } from "./env.ts";

/** A usage report to be sent to an agency. */
export interface ReportDelivery {
  agency: string;
  report: UsageReport;
  /** Called on delivery; `incomplete` if the agency needs a report of all days. */
  onDelivered(incomplete: boolean): void;
}

/** Reports are batched this long: one call for many agents, with only the latest report of each. */
const flushDelayMs = 500;
/** The object that set the timer may be gone, and the timer with it. */
const maxTimerLagMs = 1_000;

/**
 * Non-urgent reports of the agents in this isolate, by agency and agent. Totals read in another isolate lack them for
 * `flushDelayMs`, or until an agent's next heartbeat if the object that set the timer is gone. Budgets do not depend on
 * them: a metered agent reports to its agency before each call.
 */
const pendingReports = new Map<string, Map<string, ReportDelivery>>();
let flushDueAt = 0;

export function queueReport(env: Env, delivery: ReportDelivery): void {
  let deliveries = pendingReports.get(delivery.agency);
  if (!deliveries) pendingReports.set(delivery.agency, (deliveries = new Map()));
  deliveries.set(delivery.report.name, delivery);
  const now = Date.now();
  if (now < flushDueAt + maxTimerLagMs) return;
  flushDueAt = now + flushDelayMs;
  setTimeout(() => void flushReports(env), flushDelayMs);
}

/**
 * Sends all pending reports of this isolate, before totals are read. Failed ones are repeated by the agent's next
 * heartbeat.
 */
export async function flushReports(env: Env): Promise<void> {
  flushDueAt = 0;
  const pending = [...pendingReports];
  pendingReports.clear();
  await Promise.all(pending.map(([agency, deliveries]) => sendReports(env, agency, [...deliveries.values()])));
}

/** Sends a report at once, because others wait for it. */
export async function sendReport(env: Env, delivery: ReportDelivery): Promise<void> {
  pendingReports.get(delivery.agency)?.delete(delivery.report.name);
  await sendReports(env, delivery.agency, [delivery]);
}

async function sendReports(env: Env, agency: string, deliveries: readonly ReportDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  try {
    const incomplete = await env.Agency.getByName(agency).usage.reportBatch(deliveries.map(({ report }) => report));
    for (const { report, onDelivered } of deliveries) onDelivered(incomplete.includes(report.name));
  } catch (error) {
    // A deleted agency needs no reports.
    const isGone = isThinkeryError(error) && error.code === "not_found";
    if (isGone) for (const { onDelivered } of deliveries) onDelivered(false);
    else console.error("usage reports failed", error);
  }
}
