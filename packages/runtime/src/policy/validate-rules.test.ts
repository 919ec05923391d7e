import { type Blueprint, isThinkeryError } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { validateRules } from "./validate-rules.ts";

type Rules = NonNullable<NonNullable<Blueprint["config"]>["policy"]>;

function refusal(policy: Rules) {
  try {
    validateRules({ name: "careful", description: "", prompt: "", tags: [], config: { policy } });
  } catch (error) {
    if (isThinkeryError(error)) return error;
    throw error;
  }
  return undefined;
}

test("a rule for fetch that cannot be read is refused by its path, whatever it was to do", () => {
  const refused = refusal([
    { tool: "fetch", match: "https://x.org/*", action: "allow" },
    { tool: "fetch", match: "https://x.org", action: "allow" },
    { tool: "fetch", match: "x.org", action: "deny" },
  ]);
  expect(refused).toMatchObject({
    code: "bad_request",
    details: { problems: [{ path: ["config", "policy", 1, "match"] }, { path: ["config", "policy", 2, "match"] }] },
  });
  expect(refused?.message).toBe(
    "The blueprint “careful” is not valid at config.policy.1.match: the path is missing: “/*” stands for every path, “/” for the first page alone.",
  );
});

const problems: [string, RegExp][] = [
  ["", /expected “\[METHOD,… \]https:\/\/host/],
  ["ftp://x.org/", /expected “\[METHOD/],
  ["get https://x.org/", /“get” is no method here; there are GET, HEAD, POST/],
  ["https://x.org/a?b", /does not speak of the query/],
  ["https://x.org/a/..", /no “\.”, “\.\.” or backslash/],
  ["https://*x.org/", /“\*x\.org” is no host/],
];

test.each(problems)("what is wrong with %j is said", (match, words) => {
  expect(refusal([{ tool: "fetch", match, action: "allow" }])?.details?.problems?.[0]?.message).toMatch(words);
});

test("rules for other tools, for several, or for all requests have no form", () => {
  expect(
    refusal([
      { tool: "bash", match: "rm -rf", action: "deny" },
      { tool: "f*", match: "secret", action: "deny" },
      { tool: "fetch", action: "allow" },
    ]),
  ).toBeUndefined();
});
