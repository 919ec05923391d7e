import { expect, test } from "vitest";
import { fileRefusal } from "./file-refusal.ts";
import type { Config } from "./policy.ts";

test("a search shows nothing of files that rules keep it from", () => {
  const policy: Config["policy"] = [
    { tool: "grep", match: "secrets/*", action: "deny" },
    { tool: "*", match: ".env", action: "ask" },
    { tool: "readFile", match: "src", action: "deny" },
    { tool: "grep", match: "src", action: "allow" },
  ];
  const shown = (path: string) => fileRefusal({ policy }, "grep", path) === undefined;
  expect(["secrets/key", "a/SECRETS/key", "src/.env", "src/a.ts", "secrets.md"].map(shown)).toEqual([false, false, false, true, true]);
  expect([fileRefusal({ policy }, "readFile", "src/a.ts"), fileRefusal(undefined, "readFile", "src/a.ts")]).toEqual([expect.stringContaining("denies readFile"), undefined]);
});
