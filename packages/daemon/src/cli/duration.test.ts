import { expect, test } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

test("durations are parsed with their unit", () => {
  expect(parseDuration("90m")).toBe(5400);
  expect(parseDuration("30d")).toBe(2_592_000);
  for (const wrong of ["", "30", "d", "1.5h", "-1h", "3 d"])
    expect(() => parseDuration(wrong)).toThrow(/not a duration/);
});

test("durations are formatted with their two largest units", () => {
  expect(formatDuration(0.4)).toBe("0s");
  expect(formatDuration(59)).toBe("59s");
  expect(formatDuration(3600)).toBe("1h");
  expect(formatDuration(3725)).toBe("1h 2m");
  expect(formatDuration(90_061)).toBe("1d 1h");
});
