import { type GitignoreRule, parseGitignore } from "@thinkery/sdk/internal";

/**
 * The rules of one `.gitignore`, with git's semantics, for its folder and below. Anyone who can write in the folder can
 * write patterns, so they are matched in linear time; as a regular expression, a line of stars would block the whole
 * host.
 */
export class IgnoreRules {
  readonly #rules: readonly GitignoreRule[];

  constructor(text: string) {
    this.#rules = parseGitignore(text);
  }

  /** Returns undefined if no rule matches; the last matching rule wins. The path is relative to the rules' folder. */
  evaluate(path: string, isFolder: boolean): boolean | undefined {
    const rule = this.#rules.findLast(({ foldersOnly, matches }) => (isFolder || !foldersOnly) && matches(path));
    return rule && !rule.isNegated;
  }
}
