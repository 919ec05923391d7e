import type { ToolContext } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { capabilitiesOf } from "./capabilities.ts";

test("code finds an echo and a fetch, and the fetch needs a rule", () => {
  const [echo, fetch, ...others] = capabilitiesOf(() => Promise.reject(new Error("Nothing is sent here.")));
  expect(others).toEqual([]);
  expect([echo?.name, fetch?.name]).toEqual(["echo", "fetch"]);
  expect([echo?.otherwise, fetch?.otherwise]).toEqual([undefined, "deny"]);
  for (const value of [{ a: [1, "x", null] }, "text", 5, false, []]) {
    expect(echo?.run(echo.input.parse(value), {} as ToolContext)).toEqual(value);
  }
});
