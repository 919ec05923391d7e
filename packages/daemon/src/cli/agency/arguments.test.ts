import { expect, test } from "vitest";
import { parseAgencySettings } from "./show.ts";
import { parseVars } from "./vars.ts";

test("settings are numbers by name", () => {
  expect(parseAgencySettings(["maxAttempts=6", "backoffSeconds=0.5"])).toEqual({ maxAttempts: 6, backoffSeconds: 0.5 });
});

test.each([
  ["maxAttempt=1", "Unknown setting “maxAttempt”. Did you mean maxAttempts?"],
  ["color=red", "Unknown setting “color”. There are maxAttempts, "],
  ["__proto__=1", "Unknown setting “__proto__”."],
  ["maxAttempts", "“maxAttempts” is not a setting; write name=value."],
  ["maxAttempts=", "maxAttempts must be a number; got “”."],
  ["maxAttempts=six", "maxAttempts must be a number; got “six”."],
])("the setting %j is refused", (assignment, message) => {
  expect(() => parseAgencySettings([assignment])).toThrow(message);
});

test("variables keep everything after the first =, also nothing and several lines", () => {
  expect(parseVars(["a=b=c", "empty=", "text=one\ntwo"])).toEqual({ a: "b=c", empty: "", text: "one\ntwo" });
  expect(() => parseVars(["=x"])).toThrow("“=x” is not a variable; write name=value.");
});
