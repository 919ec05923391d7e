import { matchesWildcard } from "@thinkery/sdk/internal";
import { evaluatePolicy, type PolicyRule, type PolicyTool } from "./evaluate-policy.ts";

/** Names of the same command: a rule about one of them is about all. */
const synonyms = [
  [".", "source"],
  ["[", "test"],
  ["typeset", "declare"],
  ["readarray", "mapfile"],
  ["sh", "bash"],
  [":", "true"],
];

const shellTool = "bash";

interface Command {
  name: string;
  args: readonly string[];
}

/** A command that a shell is about to run, as the policy sees it: rules for `bash` are about these. */
const commandTool: PolicyTool = {
  name: shellTool,
  // A rule for several tools is searched for anywhere in the command line.
  matchesRule: (match, input, _, ruleTool) =>
    ruleTool === shellTool ? matchCommand(match, input as Command) : undefined,
  searchTexts: (input) => listSpellings(input as Command).map(({ name, args }) => [name, ...args].join(" ")),
};

/** Returns whether a command may run. Called right before it runs, with its actual arguments. */
export type CommandCheck = (name: string, args: readonly string[]) => boolean;

/**
 * Returns a check of commands against an agent's rules, or undefined if none of them can forbid a command. What needs
 * approval is refused: nobody can be asked from inside a shell.
 */
export function createCommandCheck(policy: readonly PolicyRule[]): CommandCheck | undefined {
  const rules = selectCommandRules(policy);
  if (rules.every(({ action }) => action === "allow")) return undefined;
  return (name, args) =>
    evaluatePolicy({ policy: rules }, { tool: commandTool, input: { name, args } }).action === "allow";
}

/** The rules that are about commands inside a shell; those without a `match` are about the call of the shell itself. */
export function selectCommandRules(policy: readonly PolicyRule[]): PolicyRule[] {
  return policy.filter(({ tool, match }) => match !== undefined && matchesWildcard(shellTool, tool));
}

/** A rule of one word is about a command, whatever its arguments; a longer one is about both. */
function matchCommand(match: string, command: Command): boolean {
  const pattern = match.trim().replace(/\s+/g, " ");
  return listSpellings(command).some(({ name, args }) => {
    if (!pattern.includes(" ")) return matchesWildcard(name, pattern);
    const line = [name, ...args].join(" ");
    // “rm *” is also about rm alone.
    const bare = pattern.endsWith(" *") && matchesWildcard(line.trimEnd(), pattern.slice(0, -2));
    return bare || matchesWildcard(line.replace(/\s+/g, " "), pattern);
  });
}

function listSpellings({ name, args }: Command): Command[] {
  const names = synonyms.find((group) => group.includes(name)) ?? [name];
  return names.map((spelling) => ({ name: spelling, args }));
}
