import type { ToolContext } from "@thinkery/sdk";
import { Redactor } from "@thinkery/sdk/internal";
import { expect, test } from "vitest";
import { createCapabilities } from "./capabilities.ts";

test("code has echo, a fetch that needs a policy rule, its files and a shell", () => {
  const [echo, fetch, ...others] = createCapabilities(
    () => Promise.reject(new Error("This test sends no requests.")),
    new Redactor([]).redactLog,
  );
  expect(others.map(({ name, defaultPolicy }) => [name, defaultPolicy])).toEqual(
    ["readFile", "writeFile", "listFiles", "deleteFile", "moveFile", "bash"].map((name) => [name, undefined]),
  );
  expect([echo?.name, fetch?.name]).toEqual(["echo", "fetch"]);
  expect([echo?.defaultPolicy, fetch?.defaultPolicy]).toEqual([undefined, "deny"]);
  for (const value of [{ a: [1, "x", null] }, "text", 5, false, []]) {
    expect(echo?.execute(echo.inputSchema.parse(value), {} as ToolContext)).toEqual(value);
  }
});
