import { evaluatePolicy, type PolicyRules } from "./evaluate-policy.ts";
import { matchPaths } from "./match-paths.ts";

/**
 * Returns why the policy withholds a file that something reaches in passing, such as an import or a search of
 * everything, or undefined if it may be read. The rules are those of the tool that would name the file.
 */
export function explainFileDenial(
  rules: PolicyRules | undefined,
  tool: "readFile" | "grep",
  path: string,
): string | undefined {
  const { action, reason } = evaluatePolicy(rules, { tool: { name: tool, matchesRule: matchPaths }, input: { path } });
  return action === "allow" ? undefined : reason;
}
