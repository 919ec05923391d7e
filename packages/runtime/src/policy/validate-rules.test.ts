import { type Blueprint, isThinkeryError } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { validateRules } from "./validate-rules.ts";

type Rules = NonNullable<NonNullable<Blueprint["config"]>["policy"]>;

function findError(policy: Rules) {
  try {
    validateRules(policy, ["config", "policy"], "careful");
  } catch (error) {
    if (isThinkeryError(error)) return error;
    throw error;
  }
  return undefined;
}

test("an invalid rule for fetch is rejected with its path, whatever its action", () => {
  const error = findError([
    { tool: "fetch", match: "https://x.org/*", action: "allow" },
    { tool: "fetch", match: "https://x.org", action: "allow" },
    { tool: "fetch", match: "x.org", action: "deny" },
  ]);
  expect(error).toMatchObject({
    code: "bad_request",
    details: { issues: [{ path: ["config", "policy", 1, "match"] }, { path: ["config", "policy", 2, "match"] }] },
  });
  expect(error?.message).toBe(
    "Invalid `config.policy.1.match` in the blueprint “careful”: the path is missing; “/*” matches every path, “/” only the root.",
  );
});

const invalidRules: [string, RegExp][] = [
  ["", /expected “\[METHOD,… \]https:\/\/host/],
  ["ftp://x.org/", /expected “\[METHOD/],
  ["get https://x.org/", /unknown method “get”; expected GET, HEAD, POST/],
  ["https://x.org/a?b", /cannot contain a query/],
  ["https://x.org/a/..", /cannot contain “\.”, “\.\.” or a backslash/],
  ["https://*x.org/", /“\*x\.org” is not a valid host/],
];

test.each(invalidRules)("%j is rejected with a reason", (match, reason) => {
  expect(findError([{ tool: "fetch", match, action: "allow" }])?.details?.issues?.[0]?.message).toMatch(reason);
});

test("rules for other tools, for several tools, or without a match are not validated", () => {
  expect(
    findError([
      { tool: "bash", match: "rm -rf", action: "deny" },
      { tool: "f*", match: "secret", action: "deny" },
      { tool: "fetch", action: "allow" },
    ]),
  ).toBeUndefined();
});
