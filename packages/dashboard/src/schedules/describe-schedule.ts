import type { Schedule, ScheduleRun } from "@thinkery/sdk";
import { formatCount } from "../parts/amount.ts";
import { formatDuration } from "../parts/duration.ts";
import { describeCron } from "./describe-cron.ts";

/** When a schedule is due, in words: what can be said of it without its next time. */
export function describeRecurrence(when: Schedule["when"]): string {
  if (typeof when === "number") return "once";
  if (typeof when === "object") return `every ${formatDuration(when.every)}`;
  return isCron(when) ? (describeCron(when) ?? "by cron expression") : "once";
}

/** Whether a text is a cron expression and not a date. */
export const isCron = (when: Schedule["when"]): when is string =>
  typeof when === "string" && !/^[+-]?\d{4,6}-/.test(when.trim());

/** What happens with times that are missed. */
export function describeMissedPolicy({
  missed,
  maxDelaySeconds,
}: Pick<Schedule, "missed" | "maxDelaySeconds">): string {
  const text = {
    skip: "Times missed while the host was down are skipped.",
    once: "Times missed while the host was down are made up for by one run.",
    all: "All times missed while the host was down are made up for.",
  }[missed];
  return maxDelaySeconds === undefined ? text : `${text} A time is missed after ${formatDuration(maxDelaySeconds)}.`;
}

/** What happens with times at which the previous run is not over. */
export function describeOverlapPolicy({ overlap }: Pick<Schedule, "overlap">): string {
  return overlap === "skip" ? "Skipped while the previous run is not over." : "Wait for the previous run to end.";
}

export type RunTone = "ok" | "bad" | "warn" | "quiet";

/** What became of a run. */
export function describeRun({ status, outcome, error, count, isMore, manual }: ScheduleRun): {
  text: string;
  tone: RunTone;
} {
  const how = manual ? ", by request" : "";
  switch (status) {
    case "pending":
      return { text: `about to start${how}`, tone: "quiet" };
    case "ran":
      if (outcome === undefined) return { text: `running${how}`, tone: "quiet" };
      return { text: `${outcome}${how}`, tone: outcome === "completed" ? "ok" : "bad" };
    case "missed": {
      const times = count === undefined ? "" : ` ${isMore ? "at least " : ""}${formatCount(count, "time")}`;
      return { text: `missed${times}${error ? `: ${error}` : ""}`, tone: "warn" };
    }
    case "skipped":
      return { text: "skipped: the previous run was not over", tone: "warn" };
    case "failed":
      return { text: `not accepted${error ? `: ${error}` : ""}${how}`, tone: "bad" };
  }
}

/** Whether a time zone is not the reader's own, so that it has to be named. */
export const isOtherZone = (timeZone: string | undefined): timeZone is string =>
  timeZone !== undefined && timeZone !== Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A time as it is in a time zone. */
export function formatInZone(at: string, timeZone: string | undefined): string {
  try {
    const zone = timeZone === undefined ? {} : { timeZone };
    return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short", ...zone }).format(
      new Date(at),
    );
  } catch {
    // A zone that this browser does not know.
    return at;
  }
}
