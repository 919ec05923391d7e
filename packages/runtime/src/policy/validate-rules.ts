import { type Blueprint, fail } from "@thinkery/sdk";
import { parseRequestRule } from "./match-request.ts";

/** Throws if a rule could not be read when it is needed. Only rules for `fetch` have a syntax of their own. */
export function validateRules({ name, config }: Blueprint): void {
  const problems = (config?.policy ?? []).flatMap(({ tool, match }, index) => {
    const { problem } = tool === "fetch" && match !== undefined ? parseRequestRule(match) : {};
    return problem === undefined ? [] : [{ path: ["config", "policy", index, "match"], message: problem }];
  });
  const [first] = problems;
  if (!first) return;
  const message = `The blueprint “${name}” is not valid at ${first.path.join(".")}: ${first.message}.`;
  throw fail("bad_request", message, { problems: problems.slice(0, 20) });
}
