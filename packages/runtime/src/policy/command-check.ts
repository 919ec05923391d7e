import { matchesWildcard } from "@thinkery/sdk/internal";
import { evaluatePolicy, type PolicyAction, type PolicyRules, type PolicyTool } from "./evaluate-policy.ts";
import { isWholeLine } from "./match-command-line.ts";
import { type Command, listAliases, matchCommand } from "./match-command.ts";

const shellTool = "bash";

/** What applies to the commands inside a shell: rules, and what a person has approved for good. */
export type CommandRules = Required<Pick<PolicyRules, "policy" | "grants">>;

/** Evaluated right before a command runs, with its actual arguments. A command to ask about cannot run: nobody waits. */
export type CommandCheck = (name: string, args: readonly string[]) => PolicyAction;

interface CommandOfLine extends Command {
  /** The command line that runs it. */
  line: string;
}

/** A command that a shell is about to run, as the policy sees it: rules for `bash` apply to these. */
const commandTool: PolicyTool = {
  name: shellTool,
  // A rule for several tools is matched anywhere in the command line.
  matchesRule(match, input, action, ruleTool) {
    if (ruleTool !== shellTool) return undefined;
    const command = input as CommandOfLine;
    return matchCommand(match, command) || (action === "allow" && isWholeLine(match, command.line));
  },
  searchTexts: (input) => listAliases(input as Command).map(({ name, args }) => [name, ...args].join(" ")),
};

/** Returns a check of the commands that a line runs, or undefined if none of the rules can refuse one. */
export function createCommandCheck(rules: CommandRules, line: string): CommandCheck | undefined {
  if (rules.policy.every(({ action }) => action === "allow")) return undefined;
  return (name, args) => evaluatePolicy(rules, { tool: commandTool, input: { name, args, line } }).action;
}

/** Returns the rules for commands inside a shell. Those without a `match` apply to the call of the shell itself. */
export function selectCommandRules({ policy = [], grants = [] }: PolicyRules = {}): CommandRules {
  const isForShell = ({ tool }: { tool: string }) => matchesWildcard(shellTool, tool);
  return {
    policy: policy.filter((rule) => rule.match !== undefined && isForShell(rule)),
    grants: grants.filter(isForShell).map(({ tool, match }) => ({ tool, match })),
  };
}
