import type { Cron } from "./cron.ts";
import type { TimeZone } from "./time-zone.ts";

const dayMs = 24 * 3600 * 1000;
/** A 29th of February that is a Sunday may be forty years away. */
const maxYearsAhead = 40;

/**
 * Returns the next time after `after`, or undefined if there is none. When clocks change, a schedule that names its
 * hours runs once for a time that is shown twice, and for one that is skipped, it runs as the clocks change. One that
 * runs every hour just goes on.
 */
export function findNextTime(cron: Cron, zone: TimeZone, after: number): number | undefined {
  const isHourly = cron.hours.length === 24;
  let base = Math.floor(after / 1000) * 1000;
  let offset = zone.getOffset(base);
  let from = base + offset + 1000;
  if (!isHourly) from = Math.max(from, findEndOfRepeated(zone, base));
  for (;;) {
    const wall = findNextWall(cron, from);
    if (wall === undefined) return undefined;
    // If it is far away, changes in between have no effect on it: no time before it matches.
    if (wall - from > 3 * dayMs && zone.findChange(base, base + dayMs) === undefined) {
      base = wall - offset - 2 * dayMs;
      offset = zone.getOffset(base);
    }
    const time = wall - offset;
    const change = zone.findChange(base, time);
    if (change === undefined) return time;
    const [before, next] = [offset, zone.getOffset(change)];
    if (!isHourly && next > before && wall < change + next) return change;
    base = change;
    offset = next;
    from = change + (isHourly ? next : Math.max(next, before));
  }
}

/** If what the clocks show at this time was shown before, returns the wall time up to which that is so. */
function findEndOfRepeated(zone: TimeZone, time: number): number {
  const [earlier, offset] = [zone.getOffset(time - dayMs), zone.getOffset(time)];
  if (earlier <= offset) return 0;
  const change = zone.findChange(time - dayMs, time);
  return change === undefined ? 0 : change + earlier;
}

/** Returns the first wall time that matches, from `from` on. */
function findNextWall(cron: Cron, from: number): number | undefined {
  const firstDay = Math.floor(from / dayMs) * dayMs;
  const lastYear = new Date(from).getUTCFullYear() + maxYearsAhead;
  for (let day = firstDay; ;) {
    const date = new Date(day);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    if (year > lastYear) return undefined;
    if (!cron.months.has(month + 1)) {
      day = Date.UTC(year, month + 1, 1);
      continue;
    }
    if (matchesDay(cron, date)) {
      const time = findTimeOfDay(cron, day === firstDay ? (from - day) / 1000 : 0);
      if (time !== undefined) return day + time * 1000;
    }
    day = findNextDay(cron, date);
  }
}

/** Returns the next day that may match: the next one of the month that is allowed, or the first of the next month. */
function findNextDay({ days, matchesEitherDay }: Cron, date: Date): number {
  const [year, month, today] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (matchesEitherDay) return Date.UTC(year, month, today + 1);
  const next = days.find((day) => day > today) ?? Infinity;
  // A month may not have this day.
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return next <= last ? Date.UTC(year, month, next) : Date.UTC(year, month + 1, 1);
}

function matchesDay({ days, weekdays, matchesEitherDay }: Cron, date: Date): boolean {
  const [byDay, byWeekday] = [days.includes(date.getUTCDate()), weekdays.has(date.getUTCDay())];
  return matchesEitherDay ? byDay || byWeekday : byDay && byWeekday;
}

/** Returns the first second of the day that matches, from `from` on. */
function findTimeOfDay({ hours, minutes, seconds }: Cron, from: number): number | undefined {
  for (const hour of hours) {
    if (hour * 3600 + 3599 < from) continue;
    for (const minute of minutes) {
      const start = hour * 3600 + minute * 60;
      if (start + 59 < from) continue;
      const second = seconds.find((value) => start + value >= from);
      if (second !== undefined) return start + second;
    }
  }
  return undefined;
}
