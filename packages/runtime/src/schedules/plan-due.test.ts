import { expect, test } from "vitest";
import { createRandom } from "../../../../tests/kit/random.ts";
import { getRepeatCount } from "../../../../tests/kit/sample.ts";
import { type DuePlan, type DuePolicy, maxCaughtUpRuns, planDue } from "./plan-due.ts";
import { maxCountedTimes, parseWhen } from "./recurrence.ts";

const start = Date.parse("2026-05-01T00:00:00Z");
const every10 = parseWhen({ every: 10 }, undefined, start);
const at = (seconds: number) => start + seconds * 1000;

const plan = (policy: Partial<DuePolicy>, from: number, now: number, when = every10) =>
  planDue(when, { missed: "once", overlap: "queue", ...policy }, at(from), at(now));

const summarize = ({ runs, missed, nextAt }: DuePlan) => ({
  runs: runs.map(({ dueAt }) => (dueAt - start) / 1000),
  missed: missed.map(({ dueAt }) => (dueAt - start) / 1000),
  nextAt: nextAt && (nextAt - start) / 1000,
});

test("a time that is due runs, whatever the policy", () => {
  for (const missed of ["skip", "once", "all"] as const)
    expect(summarize(plan({ missed }, 10, 12))).toEqual({ runs: [10], missed: [], nextAt: 20 });
});

test("skip runs what is on time and misses the rest", () => {
  expect(summarize(plan({ missed: "skip" }, 10, 45))).toEqual({ runs: [40], missed: [10, 20, 30], nextAt: 50 });
  const once = parseWhen(10, undefined, start);
  expect(summarize(plan({ missed: "skip" }, 10, 40, once))).toEqual({ runs: [10], missed: [], nextAt: undefined });
  expect(summarize(plan({ missed: "skip" }, 10, 41, once))).toEqual({ runs: [], missed: [10], nextAt: undefined });
});

test("once runs the latest for all that were missed", () => {
  const hourly = parseWhen("0 * * * *", undefined, start);
  const { runs, missed } = summarize(plan({ missed: "once" }, 3600, 4 * 3600 + 1800, hourly));
  expect([runs, missed]).toEqual([[4 * 3600], [3600, 2 * 3600, 3 * 3600]]);
});

test("all runs each, oldest first, even if the previous run is not over", () => {
  const due = plan({ missed: "all", overlap: "skip" }, 10, 45);
  expect(summarize(due)).toEqual({ runs: [10, 20, 30, 40], missed: [], nextAt: 50 });
  expect(due.runs.some(({ skipsIfOpen }) => skipsIfOpen)).toBe(false);
  expect(plan({ overlap: "skip" }, 10, 45).runs).toMatchObject([{ skipsIfOpen: true }]);
});

test("what is later than the maximum delay is missed", () => {
  expect(summarize(plan({ missed: "all", maxDelaySeconds: 20 }, 10, 45))).toMatchObject({
    runs: [30, 40],
    missed: [10, 20],
  });
  expect(summarize(plan({ missed: "once", maxDelaySeconds: 2 }, 10, 45))).toMatchObject({ runs: [] });
  expect(summarize(plan({ missed: "skip", maxDelaySeconds: 2 }, 10, 15))).toMatchObject({ runs: [], missed: [10] });
});

test("long downtimes are caught up in part, and the rest shares an entry", () => {
  const total = 200_000;
  const all = plan({ missed: "all" }, 10, total * 10);
  expect(all.runs.map(({ dueAt }) => dueAt)).toEqual(
    Array.from({ length: maxCaughtUpRuns }, (_, index) => at((total - maxCaughtUpRuns + index + 1) * 10)),
  );
  expect(all.missed).toEqual([
    { dueAt: at(10), until: at((total - maxCaughtUpRuns) * 10), count: total - maxCaughtUpRuns },
  ]);
  const skip = plan({ missed: "skip" }, 10, total * 10);
  expect(skip.missed).toHaveLength(51);
  expect(skip.missed[0]).toEqual({ dueAt: at(10), until: at((total - 51) * 10), count: total - 51 });
  expect(skip.missed.at(-1)).toEqual({ dueAt: at((total - 1) * 10) });
});

test("very many times of a cron expression are counted up to a limit, and the newest still run", () => {
  const everySecond = parseWhen("* * * * * *", undefined, start);
  const due = plan({ missed: "all" }, 1, 500_000, everySecond);
  expect(due.runs.map(({ dueAt }) => dueAt)).toEqual(
    Array.from({ length: maxCaughtUpRuns }, (_, index) => at(500_000 - maxCaughtUpRuns + index + 1)),
  );
  expect(due.missed).toMatchObject([{ dueAt: at(1), count: maxCountedTimes - maxCaughtUpRuns, isMore: true }]);
});

test("random schedules: each time that was due runs or is missed, and never twice", () => {
  const random = createRandom("due times");
  const count = getRepeatCount("due-times", { sample: 300, full: 5000 });
  for (let round = 0; round < count; round++) {
    const when = random.pick([{ every: 1 + random.below(90) }, "*/7 * * * * *", "*/2 * * * *", "5,35 1-3 * * *"]);
    const recurrence = parseWhen(when, "Europe/Berlin", start);
    const policy: DuePolicy = {
      missed: random.pick(["skip", "once", "all"]),
      overlap: random.pick(["skip", "queue"]),
      maxDelaySeconds: random.pick([undefined, undefined, 1 + random.below(600)]),
    };
    const end = start + random.below(3600_000);
    const expected: number[] = [];
    for (let time = recurrence.next(start); time !== undefined && time <= end; time = recurrence.next(time))
      expected.push(time);
    const [ran, missed]: [number[], number[]] = [[], []];
    let nextAt = recurrence.next(start);
    for (let now = start; now < end;) {
      now = Math.min(end, now + 1 + random.below(random.pick([2000, 60_000, 900_000])));
      if (nextAt === undefined || nextAt > now) continue;
      const due = planDue(recurrence, policy, nextAt, now);
      const label = `${JSON.stringify({ when, policy })} from ${nextAt} at ${now}`;
      const times = expected.filter((time) => time >= nextAt! && time <= now);
      checkPolicy(label, policy, times, due, now);
      ran.push(...due.runs.map(({ dueAt }) => dueAt));
      missed.push(
        ...due.missed.flatMap(({ dueAt, until = dueAt }) => times.filter((time) => time >= dueAt && time <= until)),
      );
      expect(due.nextAt! > now, label).toBe(true);
      nextAt = due.nextAt;
    }
    expect([...ran, ...missed].toSorted((one, other) => one - other)).toEqual(expected);
  }
});

/** Says for each time, on its own, whether it has to run. */
function checkPolicy(label: string, policy: DuePolicy, times: number[], { runs }: DuePlan, now: number): void {
  const { missed, maxDelaySeconds = Infinity } = policy;
  const expected = times.filter((time) => {
    const [isNewest, lateMs] = [time === times.at(-1), now - time];
    if (lateMs > maxDelaySeconds * 1000) return false;
    return missed === "all" || (isNewest && (missed === "once" || lateMs <= 30_000));
  });
  expect(
    runs.map(({ dueAt }) => dueAt),
    label,
  ).toEqual(expected.slice(-maxCaughtUpRuns));
}
