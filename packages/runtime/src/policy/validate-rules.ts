import { type Blueprint, fail } from "@thinkery/sdk";
import { parseRequestRule } from "./match-request.ts";

/** Throws if a blueprint has an invalid rule. Only rules for `fetch` have a syntax that can be checked in advance. */
export function validateRules({ name, config }: Blueprint): void {
  const issues = (config?.policy ?? []).flatMap(({ tool, match }, index) => {
    const { issue } = tool === "fetch" && match !== undefined ? parseRequestRule(match) : {};
    return issue === undefined ? [] : [{ path: ["config", "policy", index, "match"], message: issue }];
  });
  const [first] = issues;
  if (!first) return;
  const message = `Invalid \`${first.path.join(".")}\` in the blueprint “${name}”: ${first.message}.`;
  throw fail("bad_request", message, { issues: issues.slice(0, 20) });
}
