import { expect, test } from "vitest";
import { parseCron } from "./cron.ts";

test("fields have values, ranges, steps, lists and names", () => {
  const cron = parseCron("5 1-3,22 */10 jan,MAR 1-7");
  expect(cron).toEqual({
    seconds: [0],
    minutes: [5],
    hours: [1, 2, 3, 22],
    days: [1, 11, 21, 31],
    months: new Set([1, 3]),
    weekdays: new Set([0, 1, 2, 3, 4, 5, 6]),
    matchesEitherDay: false,
  });
  expect(parseCron("10/20 0 0 1 1 fri").seconds).toEqual([10, 30, 50]);
  expect(parseCron("@hourly")).toEqual(parseCron("0 * * * *"));
});

test.each([
  ["", "neither an ISO date nor a cron expression: it has 0 fields"],
  ["tomorrow", "“tomorrow” is neither an ISO date nor a cron expression: it has 1 field"],
  ["* * * * * * *", "it has 7 fields"],
  ["60 * * * *", "Field 1 (minute) of the cron expression is “60”: expected 0 to 59."],
  ["* 25 * * *", "Field 2 (hour) of the cron expression is “25”"],
  ["* * 0 * *", "Field 3 (day of the month)"],
  ["* * * 13 *", "Field 4 (month) of the cron expression is “13”: expected 1 to 12, or JAN to DEC."],
  ["* * * * 8", "Field 5 (day of the week)"],
  ["0 * * * * noday", "Field 6 (day of the week)"],
  ["61 * * * * *", "Field 1 (second)"],
  ["*/0 * * * *", "the step must be at least 1"],
  ["*/x * * * *", "the step must be at least 1"],
  ["30-10 * * * *", "the range ends before it starts"],
  ["1-2-3 * * * *", "a range has two ends"],
  ["1,,2 * * * *", "Field 1 (minute)"],
  ["-5 * * * *", "Field 1 (minute)"],
  ["1.5 * * * *", "Field 1 (minute)"],
  ["@sometimes", "“@sometimes” is not known. Use one of @yearly"],
])("“%s” is refused", (expression, message) => {
  expect(() => parseCron(expression)).toThrow(message);
});
