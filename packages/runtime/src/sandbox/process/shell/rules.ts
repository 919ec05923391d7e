import type { CommandRule } from "../../shell.ts";
import { isLike } from "../../wildcard.ts";

/** Names of the same command. Who forbids one of them means all. */
const twins = [
  [".", "source"],
  ["[", "test"],
  ["typeset", "declare"],
  ["readarray", "mapfile"],
  ["sh", "bash"],
  [":", "true"],
];

/** Do the rules keep a command from being run? Asked when it is run, with the arguments it really has. */
export type Judge = (name: string, args: readonly string[]) => boolean;

/** Deny before ask before allow, and nobody can be asked here; what no rule speaks of is allowed. */
export function judgeBy(rules: readonly CommandRule[]): Judge | undefined {
  const forbidding = rules.filter(({ action }) => action !== "allow");
  if (forbidding.length === 0) return undefined;
  return (name, args) => {
    const names = twins.find((group) => group.includes(name)) ?? [name];
    return names.some((one) => forbidding.some((rule) => means(rule, one, args)));
  };
}

/** A rule of one word is about a command, however it is called; a longer one also about what it is called with. */
function means({ match, anywhere }: CommandRule, name: string, args: readonly string[]): boolean {
  const line = [name, ...args].join(" ");
  if (anywhere) return isLike(line, `*${match}*`);
  const pattern = match.trim().replace(/\s+/g, " ");
  if (!pattern.includes(" ")) return isLike(name, pattern);
  // “rm *” is also about rm alone.
  return isLike(line.replace(/\s+/g, " "), pattern) || (pattern.endsWith(" *") && isLike(line.trimEnd(), pattern.slice(0, -2)));
}
