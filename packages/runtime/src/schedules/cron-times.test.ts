import { expect, test, vi } from "vitest";
import { createRandom, type Random } from "../../../../tests/kit/random.ts";
import { getRepeatCount } from "../../../../tests/kit/sample.ts";
import { findNextTime } from "./cron-times.ts";
import { parseCron } from "./cron.ts";
import { TimeZone } from "./time-zone.ts";

function list(expression: string, zone: string, after: string, count: number): string[] {
  const times: string[] = [];
  const cron = parseCron(expression);
  const timeZone = new TimeZone(zone);
  let time: number | undefined = Date.parse(after);
  while (times.length < count) {
    time = findNextTime(cron, timeZone, time);
    if (time === undefined) break;
    times.push(new Date(time).toISOString().replace(":00.000Z", "Z"));
  }
  return times;
}

test.each([
  ["0 9 * * 1-5", "2026-01-02T08:00:00Z", ["2026-01-02T09:00Z", "2026-01-05T09:00Z"]],
  ["0 9 * * 1-5", "2026-01-02T09:00:00Z", ["2026-01-05T09:00Z"]],
  ["*/20 0 * * *", "2026-01-02T00:19:59.900Z", ["2026-01-02T00:20Z", "2026-01-02T00:40Z", "2026-01-03T00:00Z"]],
  ["*/30 * * * * *", "2026-01-02T00:00:00Z", ["2026-01-02T00:00:30.000Z", "2026-01-02T00:01Z"]],
  // Either day matches if both are restricted.
  ["0 0 13 * FRI", "2026-02-01T00:00:00Z", ["2026-02-06T00:00Z", "2026-02-13T00:00Z", "2026-02-20T00:00Z"]],
  ["0 0 29 2 *", "2026-01-01T00:00:00Z", ["2028-02-29T00:00Z", "2032-02-29T00:00Z"]],
  ["0 0 29 2 *", "2096-03-01T00:00:00Z", ["2104-02-29T00:00Z"]],
  ["0 0 31 * *", "2026-01-31T00:00:00Z", ["2026-03-31T00:00Z", "2026-05-31T00:00Z"]],
  // February has no such day, but March has the first.
  ["0 0 1,31 * *", "2026-02-01T00:00:00Z", ["2026-03-01T00:00Z", "2026-03-31T00:00Z"]],
  ["0 0 * * 7", "2026-01-01T00:00:00Z", ["2026-01-04T00:00Z"]],
  ["0 0 30 2 *", "2026-01-01T00:00:00Z", []],
  // Both must match if one of them begins with a star.
  ["0 0 29 2 */7", "2026-01-01T00:00:00Z", ["2032-02-29T00:00Z", "2060-02-29T00:00Z", "2088-02-29T00:00Z"]],
  ["0 0 29 2 */7", "2088-03-01T00:00:00Z", ["2128-02-29T00:00Z"]],
  ["0 0 */31 2 1", "2026-01-01T00:00:00Z", ["2027-02-01T00:00Z", "2038-02-01T00:00Z"]],
])("%s after %s in UTC", (expression, after, expected) => {
  expect(list(expression, "UTC", after, Math.max(expected.length, 1))).toEqual(expected);
});

test.each([
  // Clocks go from 02:00 to 03:00 at 01:00Z: what was skipped runs then, once.
  ["30 2 * * *", "2026-03-28T12:00:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]],
  ["0,20 2 * * *", "2026-03-28T12:00:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:00Z"]],
  ["30 2,3 * * *", "2026-03-28T12:00:00Z", ["2026-03-29T01:00Z", "2026-03-29T01:30Z", "2026-03-30T00:30Z"]],
  ["0 3 * * *", "2026-03-28T12:00:00Z", ["2026-03-29T01:00Z", "2026-03-30T01:00Z"]],
  ["30 * * * *", "2026-03-29T00:00:00Z", ["2026-03-29T00:30Z", "2026-03-29T01:30Z", "2026-03-29T02:30Z"]],
  ["*/30 * * * *", "2026-03-29T00:30:00Z", ["2026-03-29T01:00Z", "2026-03-29T01:30Z"]],
  // Clocks go from 03:00 to 02:00 at 01:00Z: a time that is shown twice runs once.
  ["30 2 * * *", "2026-10-24T12:00:00Z", ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]],
  ["30 2 * * *", "2026-10-25T00:45:00Z", ["2026-10-26T01:30Z"]],
  ["30 2 * * *", "2026-10-25T01:15:00Z", ["2026-10-26T01:30Z"]],
  ["0 3 * * *", "2026-10-25T00:45:00Z", ["2026-10-25T02:00Z"]],
  ["30 * * * *", "2026-10-24T23:45:00Z", ["2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-25T02:30Z"]],
])("%s after %s in Berlin, when clocks change", (expression, after, expected) => {
  expect(list(expression, "Europe/Berlin", after, expected.length)).toEqual(expected);
});

test("clocks that change by half an hour, or at midnight", () => {
  expect(list("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", 2)).toEqual([
    "2026-10-03T15:30Z",
    "2026-10-04T15:15Z",
  ]);
  expect(list("30 23 * * *", "America/Santiago", "2026-04-04T12:00:00Z", 2)).toEqual([
    "2026-04-05T02:30Z",
    "2026-04-06T03:30Z",
  ]);
});

test.each([
  ["0 0 29 2 *", "Europe/Berlin"],
  ["30 2 29 3 *", "Europe/Berlin"],
  ["*/5 * 29 2 *", "America/New_York"],
  ["0 0 29 2 */7", "Australia/Lord_Howe"],
])("few offsets are computed for %s in %s, however far away its times are", (expression, zone) => {
  const compute = vi.spyOn(Intl.DateTimeFormat.prototype, "formatToParts");
  const count = 5;
  try {
    expect(list(expression, zone, "2026-01-01T00:00:00Z", count)).toHaveLength(count);
    expect(compute.mock.calls.length).toBeLessThan(30 * count);
  } finally {
    compute.mockRestore();
  }
});

test("times that are years away are those that a calendar has", () => {
  const random = createRandom("cron far away");
  const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Africa/Cairo"];
  for (let round = 0; round < getRepeatCount("cron far away", { sample: 100, full: 3000 }); round++) {
    const zone = random.pick(zones);
    // Months in which clocks change, or February.
    const [day, month, hour] = [1 + random.below(31), random.pick([2, 3, 4, 9, 10, 11]), random.below(24)];
    if (new Date(Date.UTC(2028, month - 1, day)).getUTCDate() !== day) continue;
    const minute = random.below(60);
    const expected: string[] = [];
    for (let year = 2026; year < 2050 && expected.length < 5; year++) {
      const wall = Date.UTC(year, month - 1, day, hour, minute);
      if (new Date(wall).getUTCDate() !== day) continue;
      expected.push(toIso(new TimeZone(zone).toTime(wall)).replace(":00.000Z", "Z"));
    }
    const expression = `${minute} ${hour} ${day} ${month} *`;
    expect(list(expression, zone, "2026-01-01T00:00:00Z", 5), `${expression} in ${zone}`).toEqual(expected);
  }
});

test("random expressions have the times that a search minute by minute finds", () => {
  const random = createRandom("cron");
  const count = getRepeatCount("cron", { sample: 60, full: 1500 });
  const zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Santiago", "UTC"];
  for (let round = 0; round < count; round++) {
    const expression = createExpression(random);
    const zone = random.pick(zones);
    // Half of them around a change of the clocks.
    const day = random.chance(0.5)
      ? random.pick(["2026-03-08", "2026-03-29", "2026-10-04", "2026-10-25", "2026-11-01", "2026-04-05"])
      : `2026-0${1 + random.below(9)}-${10 + random.below(18)}`;
    const from = Date.parse(`${day}T00:00:00Z`) - random.below(2 * 24 * 60) * 60_000;
    const to = from + 4 * 24 * 3600_000;
    const found: number[] = [];
    const [cron, timeZone] = [parseCron(expression), new TimeZone(zone)];
    for (let time = findNextTime(cron, timeZone, from); time !== undefined && time <= to;) {
      found.push(time);
      time = findNextTime(cron, timeZone, time);
    }
    const expected = searchSlowly(expression, zone, from, to);
    expect(found.map(toIso), `${expression} in ${zone} from ${toIso(from)}`).toEqual(expected.map(toIso));
  }
});

const toIso = (time: number) => new Date(time).toISOString();

function createExpression(random: Random): string {
  const field = (min: number, max: number) => {
    const one = min + random.below(max - min + 1);
    const other = one + random.below(max - one + 1);
    return random.pick([
      "*",
      "*",
      String(one),
      `${one}-${other}`,
      `*/${1 + random.below(max)}`,
      `${one},${other}`,
      `${one}/2`,
    ]);
  };
  return [field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6)].join(" ");
}

/** Looks at each minute, with what a calendar shows for it, and knows nothing about offsets. */
function searchSlowly(expression: string, zone: string, from: number, to: number): number[] {
  const [minutes = "", hours = "", days = "", months = "", weekdays = ""] = expression.split(" ");
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: "short",
  });
  const matches = (wall: string) => {
    const [, month, day, hour, minute] = wall.split(/[- :]/).map(Number) as [number, number, number, number, number];
    const weekday = new Date(`${wall.slice(0, 10)}T00:00:00Z`).getUTCDay();
    const [byDay, byWeekday] = [allows(days, day, 31), allows(weekdays, weekday, 6)];
    const either = !days.startsWith("*") && !weekdays.startsWith("*");
    return (
      allows(minutes, minute, 59) &&
      allows(hours, hour, 23) &&
      allows(months, month, 12) &&
      (either ? byDay || byWeekday : byDay && byWeekday)
    );
  };
  const isHourly = Array.from({ length: 24 }, (_, hour) => allows(hours, hour, 23)).every(Boolean);
  const [seen, found]: [Set<string>, number[]] = [new Set(), []];
  let previous = "";
  for (let time = from - 24 * 3600_000; time <= to; time += 60_000) {
    const wall = format.format(time);
    const skipped = previous === "" ? [] : listBetween(previous, wall);
    const isDue = (matches(wall) && (isHourly || !seen.has(wall))) || (!isHourly && skipped.some(matches));
    if (isDue && time > from) found.push(time);
    seen.add(wall);
    previous = wall;
  }
  return found;
}

/** Returns the minutes that clocks did not show between these two. */
function listBetween(previous: string, next: string): string[] {
  const walls: string[] = [];
  const end = Date.parse(`${next.replace(" ", "T")}:00Z`);
  for (let wall = Date.parse(`${previous.replace(" ", "T")}:00Z`) + 60_000; wall < end; wall += 60_000)
    walls.push(new Date(wall).toISOString().slice(0, 16).replace("T", " "));
  return walls;
}

function allows(field: string, value: number, max: number): boolean {
  return field.split(",").some((item) => {
    const [range = "", step] = item.split("/");
    const first = max === 31 || max === 12 ? 1 : 0;
    const [from, to] = range === "*" ? [first, max] : (range.split("-").map(Number) as [number, number?]);
    const last = to ?? (step === undefined ? from : max);
    return value >= from! && value <= last! && (value - from!) % Number(step ?? 1) === 0;
  });
}
