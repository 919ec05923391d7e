import { fail, type PolicyRule } from "@thinkery/sdk";
import { parseRequestRule } from "./match-request.ts";

/** Throws if a rule is invalid. Only rules for `fetch` have a syntax that can be checked in advance. */
export function validateRules(rules: readonly PolicyRule[], path: readonly string[], blueprint?: string): void {
  const issues = rules.flatMap(({ tool, match }, index) => {
    const { issue } = tool === "fetch" && match !== undefined ? parseRequestRule(match) : {};
    return issue === undefined ? [] : [{ path: [...path, index, "match"], message: issue }];
  });
  const [first] = issues;
  if (!first) return;
  const place = blueprint === undefined ? "" : ` in the blueprint “${blueprint}”`;
  const message = `Invalid \`${first.path.join(".")}\`${place}: ${first.message}.`;
  throw fail("bad_request", message, { issues: issues.slice(0, 20) });
}
