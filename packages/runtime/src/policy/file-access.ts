import { evaluatePolicy, type PolicyRules } from "./evaluate-policy.ts";
import { matchPaths } from "./match-paths.ts";

/**
 * Returns why the policy withholds a file that is reached indirectly, such as by an import or a search, or undefined if
 * it may be read. The rules of the given tool apply, which would read the file directly.
 */
export function explainFileDenial(
  rules: PolicyRules | undefined,
  tool: "readFile" | "grep",
  path: string,
): string | undefined {
  const { action, reason } = evaluatePolicy(rules, { tool: { name: tool, matchesRule: matchPaths }, input: { path } });
  return action === "allow" ? undefined : reason;
}
