import { expect, test } from "vitest";
import type { PolicyRule } from "./evaluate-policy.ts";
import { explainFileDenial } from "./file-access.ts";

test("a search omits files that the policy withholds", () => {
  const policy: PolicyRule[] = [
    { tool: "grep", match: "secrets/*", action: "deny" },
    { tool: "*", match: ".env", action: "ask" },
    { tool: "readFile", match: "src", action: "deny" },
    { tool: "grep", match: "src", action: "allow" },
  ];
  const isShown = (path: string) => explainFileDenial({ policy }, "grep", path) === undefined;
  expect(["secrets/key", "a/SECRETS/key", "src/.env", "src/a.ts", "secrets.md"].map(isShown)).toEqual([
    false,
    false,
    false,
    true,
    true,
  ]);
  expect([
    explainFileDenial({ policy }, "readFile", "src/a.ts"),
    explainFileDenial(undefined, "readFile", "src/a.ts"),
  ]).toEqual([expect.stringContaining("denies readFile"), undefined]);
});
