import { parseFilePath, foldPathCase, findPathIssue } from "@thinkery/sdk";
import { matchesWildcard } from "@thinkery/sdk/internal";
import type { PolicyAction } from "./evaluate-policy.ts";

/**
 * Rules of file tools are about paths in their canonical spelling and match those that contain the rule's text. A rule
 * that forbids also covers a folder that holds what it forbids, and ignores case.
 */
export function matchPaths(match: string, input: unknown, action: PolicyAction): boolean {
  const paths = listPaths(input);
  if (action === "allow") return paths.length > 0 && paths.every((path) => matchesWildcard(path, `*${match}*`));
  const wanted = foldPathCase(match.normalize("NFC"));
  const { pattern, glob } = input as Record<string, unknown>;
  const texts = [...paths, ...[pattern, glob].filter((one) => typeof one === "string")];
  return texts.map(foldPathCase).some((path) => matchesWildcard(path, `*${wanted}*`) || wanted.startsWith(`${path}/`));
}

function listPaths(input: unknown): string[] {
  const { path, from, to } = (input ?? {}) as Record<string, unknown>;
  return [path, from, to]
    .filter((one) => typeof one === "string")
    .map((one) => (findPathIssue(one) ? one : parseFilePath(one)));
}
