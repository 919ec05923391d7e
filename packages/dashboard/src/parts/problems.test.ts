import { fail } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { sortProblems } from "./problems.ts";

test("problems go to the fields they are about", () => {
  const error = fail("bad_request", "The body is not valid at name: reserved", {
    problems: [
      { path: ["name"], message: "reserved" },
      { path: ["model"], message: "write it as provider:model" },
    ],
  });
  expect(sortProblems(error, ["name", "model"])).toEqual({
    byField: { name: "Reserved.", model: "Write it as provider:model." },
  });
});

test("a problem with a field that is not shown is told with the whole message", () => {
  const error = fail("bad_request", "The body is not valid at props: too large", {
    problems: [{ path: ["props"], message: "too large" }],
  });
  expect(sortProblems(error, ["name"])).toEqual({ byField: {}, rest: "The body is not valid at props: too large" });
});

test("an error without problems is told as it is", () => {
  expect(sortProblems(fail("conflict", "There is already an agent “bob”."), ["name"]).rest).toBe(
    "There is already an agent “bob”.",
  );
});
