import { fail } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { toFormErrors } from "./form-errors.ts";

test("issues are assigned to their fields", () => {
  const error = fail("bad_request", "Invalid `name`: reserved.", {
    issues: [
      { path: ["name"], message: "reserved" },
      { path: ["model"], message: "write it as provider:model" },
    ],
  });
  expect(toFormErrors(error, ["name", "model"])).toEqual({
    byField: { name: "Reserved.", model: "Write it as provider:model." },
  });
});

test("an issue with a field that is not in the form shows the whole message", () => {
  const error = fail("bad_request", "Invalid `props`: too large.", {
    issues: [{ path: ["props"], message: "too large" }],
  });
  expect(toFormErrors(error, ["name"])).toEqual({ byField: {}, general: "Invalid `props`: too large." });
});

test("an error without issues shows its message", () => {
  expect(toFormErrors(fail("conflict", "Agent “bob” already exists."), ["name"]).general).toBe(
    "Agent “bob” already exists.",
  );
});
