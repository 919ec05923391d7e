import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DueTimer } from "./due-timer.ts";

/** A feature with a list of times at which it has something to do. */
class Feature {
  readonly ran: number[] = [];
  readonly due: number[];
  fails = 0;

  constructor(...due: number[]) {
    this.due = due;
  }

  nextDueAt(): number | undefined {
    return this.due[0];
  }

  runDue(now: number): void {
    if (this.fails > 0) {
      this.fails -= 1;
      throw new Error("not now");
    }
    while (this.due[0] !== undefined && this.due[0] <= now) this.ran.push(this.due.shift()!);
  }
}

function createTimer(...features: Feature[]) {
  const scheduled: number[] = [];
  const timer = new DueTimer({
    features: () => features,
    schedule: async (at) => scheduled.push(at),
  });
  return { timer, scheduled };
}

beforeEach(() => {
  vi.useFakeTimers({ now: 10_000, toFake: ["Date"] });
  vi.spyOn(console, "error").mockImplementation(() => {});
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("the earliest time of all features is scheduled, rounded up to a second", async () => {
  const { timer, scheduled } = createTimer(new Feature(30_500), new Feature(20_001), new Feature());
  await timer.update();
  await timer.update();
  expect(scheduled).toEqual([21_000]);
});

test("an earlier time is scheduled too, and a later one only once the earlier one has passed", async () => {
  const feature = new Feature(60_000);
  const { timer, scheduled } = createTimer(feature);
  await timer.update();
  feature.due.unshift(15_000);
  await timer.update();
  vi.setSystemTime(15_000);
  await timer.check(15_000);
  expect(feature.ran).toEqual([15_000]);
  expect(scheduled).toEqual([60_000, 15_000, 60_000]);
});

test("a check runs what is due and nothing else", async () => {
  const [early, late] = [new Feature(11_000, 12_000, 40_000), new Feature(50_000)];
  const { timer, scheduled } = createTimer(early, late);
  vi.setSystemTime(12_000);
  await timer.check(12_000);
  expect([early.ran, late.ran]).toEqual([[11_000, 12_000], []]);
  expect(scheduled).toEqual([40_000]);
});

test("a feature that fails is tried again, and does not hold up the others", async () => {
  const [broken, other] = [new Feature(10_000), new Feature(10_000, 10_500)];
  broken.fails = 1;
  const { timer, scheduled } = createTimer(broken, other);
  await timer.check(10_000);
  expect(other.ran).toEqual([10_000]);
  expect(scheduled).toEqual([11_000]);
  vi.setSystemTime(11_000);
  await timer.check(11_000);
  expect(scheduled).toEqual([11_000, 15_000]);
  vi.setSystemTime(15_000);
  await timer.check(15_000);
  expect(broken.ran).toEqual([10_000]);
});

test("the check after one that is running never has the same time", async () => {
  const feature = new Feature(20_000);
  const { timer, scheduled } = createTimer(feature);
  vi.setSystemTime(19_990);
  await timer.check(20_000);
  expect(feature.ran).toEqual([]);
  expect(scheduled).toEqual([21_000]);
});

test("a check that could not be scheduled is scheduled by the next update", async () => {
  const schedule = vi.fn<(at: number) => Promise<void>>().mockRejectedValueOnce(new Error("disk full"));
  const timer = new DueTimer({ features: () => [new Feature(20_000)], schedule });
  await expect(timer.update()).rejects.toThrow("disk full");
  await timer.update();
  expect(schedule.mock.calls).toEqual([[20_000], [20_000]]);
});

test("nothing is scheduled or run after a halt", async () => {
  const feature = new Feature(10_000);
  const { timer, scheduled } = createTimer(feature);
  timer.halt();
  await timer.update();
  await timer.check(10_000);
  expect([feature.ran, scheduled]).toEqual([[], []]);
});
