import type { Schedule, ScheduleRun, ScheduleWhen } from "@thinkery/sdk";
import { formatDuration } from "./duration.ts";

const maxInputChars = 40;

export const scheduleTitles = ["ID", "WHEN", "NEXT", "LAST RUN", "INPUT"];

/** Returns the cells of a schedule in a table. */
export function formatScheduleRow(schedule: Schedule, now: number, timeZone?: string): string[] {
  const { id, name, when, timeZone: zone, input, paused, nextAt, history } = schedule;
  const last = history[0];
  return [
    id,
    formatWhen(when) + (zone === undefined || typeof when === "number" ? "" : ` ${zone}`),
    paused ? "paused" : nextAt === null ? "over" : formatTime(nextAt, now, timeZone),
    last ? formatRunStatus(last) : "",
    shorten(name ?? input),
  ];
}

export const runTitles = ["DUE", "STATUS", "TURN", "NOTE"];

/** Returns the cells of a run in a table. */
export function formatRunRow(run: ScheduleRun, now: number, timeZone?: string): string[] {
  const { dueAt, runId, error, manual, until, count, isMore } = run;
  const several = count === undefined ? "" : `${isMore ? "at least " : ""}${count} times`;
  const end = until === undefined ? "" : `until ${formatTime(until, now, timeZone)}`;
  return [
    formatTime(dueAt, now, timeZone),
    formatRunStatus(run),
    runId ?? "",
    [manual ? "run by request" : "", several, end, error ?? ""].filter(Boolean).join(", "),
  ];
}

function formatWhen(when: ScheduleWhen): string {
  if (typeof when === "object") return `every ${formatDuration(when.every)}`;
  return typeof when === "number" ? `once, after ${formatDuration(when)}` : when;
}

function formatRunStatus({ status, outcome }: ScheduleRun): string {
  // What did not happen must not be overlooked.
  if (status === "missed") return "MISSED";
  return status === "ran" ? (outcome ?? "running") : status;
}

/** Formats a time as people read it, with how far away it is. */
export function formatTime(iso: string, now: number, timeZone?: string): string {
  const time = Date.parse(iso);
  const local = new Date(time).toLocaleString("sv-SE", {
    ...(timeZone === undefined ? {} : { timeZone }),
    dateStyle: "short",
    timeStyle: "medium",
  });
  const [largest = "0s"] = formatDuration(Math.abs(time - now) / 1000).split(" ");
  return `${local} (${time >= now ? `in ${largest}` : `${largest} ago`})`;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxInputChars ? `${line.slice(0, maxInputChars - 1)}…` : line;
}
