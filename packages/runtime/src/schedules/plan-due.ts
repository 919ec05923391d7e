import type { MissedPolicy, OverlapPolicy } from "@thinkery/sdk";
import type { DueTimes, Recurrence } from "./recurrence.ts";

/** A run that is not later than this is on time: a host may be busy, or restart. */
export const graceMs = 30_000;
/** Runs that one schedule may catch up on after the host was down. */
export const maxCaughtUpRuns = 1000;
/** Missed times listed one by one. Those before them share an entry. */
export const maxListedMissed = 50;

export interface DuePolicy {
  missed: MissedPolicy;
  overlap: OverlapPolicy;
  maxDelaySeconds?: number | undefined;
}

export interface DueRun {
  dueAt: number;
  /** Whether to skip it if the previous run is not over. */
  skipsIfOpen: boolean;
}

export interface MissedTimes {
  dueAt: number;
  /** If there are several: the last one, and their number. */
  until?: number;
  count?: number;
  isMore?: boolean;
}

export interface DuePlan {
  /** Oldest first. */
  missed: MissedTimes[];
  runs: DueRun[];
  nextAt: number | undefined;
}

/** Divides the times of a schedule that are due by now, from `nextAt` on, into runs and missed times. */
export function planDue(recurrence: Recurrence, policy: DuePolicy, nextAt: number, now: number): DuePlan {
  const runsAll = policy.missed === "all";
  const { newest, older } = recurrence.listDue(nextAt, now, runsAll ? maxCaughtUpRuns : maxListedMissed + 1);
  const runs = (runsAll ? newest : newest.slice(-1)).filter((time) => isInTime(time, policy, now));
  const missed = newest.slice(0, newest.length - runs.length);
  return {
    missed: [
      ...combine(missed.slice(0, -maxListedMissed), older),
      ...missed.slice(-maxListedMissed).map((dueAt) => ({ dueAt })),
    ],
    // To run all of them means just that.
    runs: runs.map((dueAt) => ({ dueAt, skipsIfOpen: policy.overlap === "skip" && !runsAll })),
    nextAt: recurrence.next(now),
  };
}

function isInTime(time: number, { missed, maxDelaySeconds = Infinity }: DuePolicy, now: number): boolean {
  const maxDelayMs = maxDelaySeconds * 1000;
  return now - time <= (missed === "skip" ? Math.min(graceMs, maxDelayMs) : maxDelayMs);
}

/** Makes one entry of missed times, and of the `older` ones before them. */
function combine(times: readonly number[], older: DueTimes["older"]): MissedTimes[] {
  const dueAt = older?.first ?? times[0];
  if (dueAt === undefined) return [];
  const until = times.at(-1) ?? older?.last ?? dueAt;
  const count = (older?.count ?? 0) + times.length;
  return [{ dueAt, ...(count > 1 ? { until, count } : {}), ...(older?.isMore ? { isMore: true } : {}) }];
}
