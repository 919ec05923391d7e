import { type Blueprint, fail } from "@thinkery/sdk";
import { readFetchRule } from "../tools/capabilities/fetch/rule.ts";

/** Refuses rules that could not be read when they are needed. Only those for `fetch` have a form. */
export function checkRules({ name, config }: Blueprint): void {
  const problems = (config?.policy ?? []).flatMap(({ tool, match }, index) => {
    const { problem } = tool === "fetch" && match !== undefined ? readFetchRule(match) : {};
    return problem === undefined ? [] : [{ path: ["config", "policy", index, "match"], message: problem }];
  });
  const [first] = problems;
  if (!first) return;
  throw fail("bad_request", `The blueprint “${name}” is not valid at ${first.path.join(".")}: ${first.message}.`, { problems: problems.slice(0, 20) });
}
