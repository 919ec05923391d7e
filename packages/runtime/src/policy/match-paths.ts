import { parseFilePath, foldPathCase, findPathIssue } from "@thinkery/sdk";
import { matchesWildcard } from "@thinkery/sdk/internal";
import type { PolicyAction } from "./evaluate-policy.ts";

/**
 * Matches rules of file tools against normalized paths: a path matches if it contains the rule's text. A rule that
 * forbids also matches folders that contain what it forbids, and ignores case.
 */
export function matchPaths(match: string, input: unknown, action: PolicyAction): boolean {
  const paths = listPaths(input);
  if (action === "allow") return paths.length > 0 && paths.every((path) => matchesWildcard(path, `*${match}*`));
  const folded = foldPathCase(match.normalize("NFC"));
  const { pattern, glob } = input as Record<string, unknown>;
  const texts = [...paths, ...[pattern, glob].filter((value) => typeof value === "string")];
  return texts.map(foldPathCase).some((path) => matchesWildcard(path, `*${folded}*`) || folded.startsWith(`${path}/`));
}

function listPaths(input: unknown): string[] {
  const { path, from, to } = (input ?? {}) as Record<string, unknown>;
  return [path, from, to]
    .filter((value) => typeof value === "string")
    .map((value) => (findPathIssue(value) ? value : parseFilePath(value)));
}
