import { type GitignoreRule, parseGitignore } from "@thinkery/sdk/internal";

/**
 * The rules of one `.gitignore`, as git reads them, for what is in its folder and below. The patterns come from
 * anybody who can write in the folder, so they are matched in linear time: as regular expressions, a line of stars would
 * keep the whole host busy.
 */
export class IgnoreRules {
  readonly #rules: readonly GitignoreRule[];

  constructor(text: string) {
    this.#rules = parseGitignore(text);
  }

  /** Returns undefined if no rule matches; the last that does wins. The path is relative to the rules' own folder. */
  evaluate(path: string, isFolder: boolean): boolean | undefined {
    const rule = this.#rules.findLast(({ foldersOnly, matches }) => (isFolder || !foldersOnly) && matches(path));
    return rule && !rule.isNegated;
  }
}
