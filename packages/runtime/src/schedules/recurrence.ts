import { fail, type ScheduleWhen } from "@thinkery/sdk";
import { findNextTime } from "./cron-times.ts";
import { parseCron, type Cron } from "./cron.ts";
import { getTimeZone, type TimeZone } from "./time-zone.ts";

/** The times at which a schedule is due. */
export interface Recurrence {
  /** Returns the first time after `after`. */
  next(after: number): number | undefined;
  /** Returns the times from `from` to `to`, of which there is at least one: the newest, and what is before them. */
  listDue(from: number, to: number, maxNewest: number): DueTimes;
}

export interface DueTimes {
  /** In ascending order. */
  newest: number[];
  older?: { first: number; last: number; count: number; isMore: boolean };
}

/** Times are counted one by one. If there are more, their number is a minimum. */
export const maxCountedTimes = 10_000;
const maxAheadYears = 100;

/** Parses `when`. Throws an error that says what to do. */
export function parseWhen(when: ScheduleWhen, timeZone: string | undefined, now: number): Recurrence {
  const zone = getTimeZone(timeZone ?? "UTC");
  // Timers count in seconds, so that these times are met exactly.
  if (typeof when === "object") return new Interval(roundUpToSecond(now), when.every * 1000);
  if (typeof when === "number") return new Once(roundUpToSecond(now + when * 1000));
  const time = parseDate(when, zone);
  if (time === undefined) return new CronRecurrence(parseCron(when), zone);
  return new Once(time);
}

/** Throws if a new schedule would never run. */
export function checkRecurrence(recurrence: Recurrence, when: ScheduleWhen, now: number): void {
  const next = recurrence.next(now - 1);
  if (recurrence instanceof Once && (next === undefined || (typeof when === "string" && next <= now))) {
    throw fail("bad_request", `${String(when)} is in the past: it is now ${new Date(now).toISOString()}.`);
  }
  if (next === undefined) {
    throw fail("bad_request", `“${String(when)}” never happens. Check the day of the month and the month.`);
  }
  if (next > now + maxAheadYears * 366 * 24 * 3600 * 1000) {
    throw fail("bad_request", `${String(when)} is more than ${maxAheadYears} years away.`);
  }
}

const roundUpToSecond = (ms: number) => Math.ceil(ms / 1000) * 1000;

const datePattern = /^\d{4}-\d{2}-\d{2}(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/** Returns undefined if the text does not look like a date. Without an offset, it is a date in the time zone. */
function parseDate(text: string, zone: TimeZone): number | undefined {
  const trimmed = text.trim();
  if (!/^[+-]?\d{4,6}-/.test(trimmed)) return undefined;
  const match = datePattern.exec(trimmed);
  const [date, time = "00:00"] = [trimmed.slice(0, 10), match?.[1]];
  const wall = match ? Date.parse(`${date}T${time}Z`) : Number.NaN;
  // The 30th of February is read as the first of March or the second.
  if (Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 10) !== date) {
    throw fail("bad_request", `“${text}” is not a date. Use a form like 2026-12-24T18:00:00Z.`);
  }
  return match?.[2] === undefined ? zone.toTime(wall) : Date.parse(trimmed.replace(" ", "T"));
}

class Once implements Recurrence {
  readonly #at: number;

  constructor(at: number) {
    this.#at = at;
  }

  next(after: number): number | undefined {
    return this.#at > after ? this.#at : undefined;
  }

  listDue(): DueTimes {
    return { newest: [this.#at] };
  }
}

/** Every so often, counted from when the schedule was created: delays do not add up. */
class Interval implements Recurrence {
  readonly #start: number;
  readonly #stepMs: number;

  constructor(start: number, stepMs: number) {
    this.#start = start;
    this.#stepMs = stepMs;
  }

  next(after: number): number {
    const done = Math.max(0, Math.floor((after - this.#start) / this.#stepMs));
    return this.#start + (done + 1) * this.#stepMs;
  }

  listDue(from: number, to: number, maxNewest: number): DueTimes {
    const first = this.next(from - 1);
    const total = Math.floor((to - first) / this.#stepMs) + 1;
    const listed = Math.min(total, maxNewest);
    const start = first + (total - listed) * this.#stepMs;
    const newest = Array.from({ length: listed }, (_, index) => start + index * this.#stepMs);
    if (listed === total) return { newest };
    return { newest, older: { first, last: start - this.#stepMs, count: total - listed, isMore: false } };
  }
}

class CronRecurrence implements Recurrence {
  readonly #cron: Cron;
  readonly #zone: TimeZone;

  constructor(cron: Cron, zone: TimeZone) {
    this.#cron = cron;
    this.#zone = zone;
  }

  next(after: number): number | undefined {
    return findNextTime(this.#cron, this.#zone, after);
  }

  listDue(from: number, to: number, maxNewest: number): DueTimes {
    const times = this.#list(from, to, maxCountedTimes);
    const count = Math.max(times.length - maxNewest, 0);
    const first = times[0] ?? from;
    const isMore = times.length === maxCountedTimes && this.#list(times.at(-1)! + 1, to, 1).length > 0;
    const newest = isMore ? this.#listNewest(times.at(-1)!, to, maxNewest) : times.slice(count);
    if (count === 0) return { newest };
    const last = isMore ? newest[0]! - 1 : times[count - 1]!;
    return { newest, older: { first, last, count, isMore } };
  }

  #list(from: number, to: number, max: number): number[] {
    const times: number[] = [];
    for (let next = this.next(from - 1); next !== undefined && next <= to; next = this.next(next)) {
      times.push(next);
      if (times.length >= max) break;
    }
    return times;
  }

  /** There are too many times to count: narrows down the part of the range in which the newest are. */
  #listNewest(from: number, to: number, max: number): number[] {
    let [low, high] = [from, to];
    for (;;) {
      const start = Math.floor((low + high) / 2);
      const times = this.#list(start, to, 10 * max + 1);
      if (times.length > 10 * max && high - start > 1000) low = start;
      else if (times.length < max && start - low > 1000) high = start;
      else return times.slice(-max);
    }
  }
}
