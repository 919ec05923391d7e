import { matchesWildcard } from "@thinkery/sdk/internal";

/** Names of the same command: a rule for one of them applies to all. */
const synonyms = [
  [".", "source"],
  ["[", "test"],
  ["typeset", "declare"],
  ["readarray", "mapfile"],
  ["sh", "bash"],
  [":", "true"],
];

/** A single command, as a shell is about to run it. */
export interface Command {
  name: string;
  args: readonly string[];
}

/** A rule of one word matches a command with any arguments; a longer one matches the whole command line. */
export function matchCommand(match: string, command: Command): boolean {
  const pattern = match.trim().replace(/\s+/g, " ");
  return listAliases(command).some(({ name, args }) => {
    if (!pattern.includes(" ")) return matchesWildcard(name, pattern);
    const line = [name, ...args].join(" ");
    // “rm *” also matches rm without arguments.
    const bare = pattern.endsWith(" *") && matchesWildcard(line.trimEnd(), pattern.slice(0, -2));
    return bare || matchesWildcard(line.replace(/\s+/g, " "), pattern);
  });
}

/** Returns a command under each of its names. */
export function listAliases({ name, args }: Command): Command[] {
  const names = synonyms.find((group) => group.includes(name)) ?? [name];
  return names.map((alias) => ({ name: alias, args }));
}
