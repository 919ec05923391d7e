import { matchesWildcard } from "@thinkery/sdk/internal";
import { evaluatePolicy, type PolicyRule, type PolicyTool } from "./evaluate-policy.ts";

/** Names of the same command: a rule for one of them applies to all. */
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

/** A command that a shell is about to run, as the policy sees it: rules for `bash` apply to these. */
const commandTool: PolicyTool = {
  name: shellTool,
  // A rule for several tools is matched anywhere in the command line.
  matchesRule: (match, input, _, ruleTool) =>
    ruleTool === shellTool ? matchCommand(match, input as Command) : undefined,
  searchTexts: (input) => listAliases(input as Command).map(({ name, args }) => [name, ...args].join(" ")),
};

/** Returns whether a command may run. Called right before it runs, with its actual arguments. */
export type CommandCheck = (name: string, args: readonly string[]) => boolean;

/**
 * Returns a check of commands against an agent's rules, or undefined if none of them can forbid a command. Commands
 * that need approval are refused: a shell cannot wait for it.
 */
export function createCommandCheck(policy: readonly PolicyRule[]): CommandCheck | undefined {
  const rules = selectCommandRules(policy);
  if (rules.every(({ action }) => action === "allow")) return undefined;
  return (name, args) =>
    evaluatePolicy({ policy: rules }, { tool: commandTool, input: { name, args } }).action === "allow";
}

/** Returns the rules for commands inside a shell. Those without a `match` apply to the call of the shell itself. */
export function selectCommandRules(policy: readonly PolicyRule[]): PolicyRule[] {
  return policy.filter(({ tool, match }) => match !== undefined && matchesWildcard(shellTool, tool));
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

function listAliases({ name, args }: Command): Command[] {
  const names = synonyms.find((group) => group.includes(name)) ?? [name];
  return names.map((alias) => ({ name: alias, args }));
}
