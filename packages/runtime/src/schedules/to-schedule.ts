import type { Schedule, ScheduleRun } from "@thinkery/sdk";
import type { Recurrence } from "./recurrence.ts";
import type { RunRow, ScheduleRow } from "./schedule-table.ts";

const maxListedTimes = 5;

/** Lists the next times of a schedule, beginning with `first`. */
export function listNextTimes(recurrence: Recurrence | undefined, first: number | undefined): string[] {
  const next: string[] = [];
  for (let time = first; time !== undefined && next.length < maxListedTimes; time = recurrence?.next(time))
    next.push(toIso(time));
  return next;
}

/** Describes a schedule. `recurrence` is missing if it is not due again. */
export function toSchedule(row: ScheduleRow, recurrence: Recurrence | undefined, history: RunRow[]): Schedule {
  const { id, agent, definition, createdBy, createdAt, paused, nextAt } = row;
  const next = listNextTimes(recurrence, nextAt);
  return {
    id,
    ...(agent === undefined ? {} : { agent }),
    ...definition,
    paused,
    nextAt: next[0] ?? null,
    next,
    history: history.map(toScheduleRun),
    createdBy,
    createdAt: toIso(createdAt),
  };
}

export function toScheduleRun({ dueAt, at, status, runId, outcome, details }: RunRow): ScheduleRun {
  const { until, ...rest } = details;
  return {
    dueAt: toIso(dueAt),
    status,
    ...(runId === undefined ? {} : { runId }),
    ...(outcome === undefined ? {} : { outcome }),
    ...rest,
    ...(until === undefined ? {} : { until: toIso(until) }),
    at: toIso(at),
  };
}

const toIso = (time: number) => new Date(time).toISOString();
