import { fail } from "@thinkery/sdk";
import { createCommandCheck, selectCommandRules } from "./command-check.ts";
import { evaluatePolicy, type PolicyRules, type PolicyTool } from "./evaluate-policy.ts";
import { splitCommands } from "./match-command-line.ts";

/**
 * Checks a command that is run for an agent outside its turns, as if the agent ran it itself. Returns those of its tools
 * that may run it. Throws if it has none, or a rule forbids the command to one of them.
 */
export function authorizeCommand<Tool extends PolicyTool>(
  rules: PolicyRules | undefined,
  tools: readonly Tool[],
  command: string,
): Tool[] {
  const general = rules && { ...rules, policy: rules.policy?.filter(({ match }) => match === undefined) };
  const decisions = tools.map((tool) => ({ tool, ...evaluatePolicy(general, { tool, input: { command } }) }));
  const usable = decisions.filter(({ action }) => action === "allow").map(({ tool }) => tool);
  if (usable.length === 0) throw createRefusal(command, decisions[0]?.reason ?? "This agent cannot run commands.");
  for (const tool of usable) {
    const { action, reason } = evaluatePolicy(rules, { tool, input: { command } });
    if (action !== "allow") throw createRefusal(command, reason);
  }
  // A shell checks each command again when it runs, with its actual arguments.
  const check = createCommandCheck(selectCommandRules(rules), command);
  for (const [name = "", ...args] of splitCommands(command)) {
    const action = check?.(name, args);
    if (action === "deny") throw createRefusal(command, `The policy of this agent denies the command “${name}”.`);
    if (action === "ask") {
      throw createRefusal(command, `The command “${name}” needs a person's approval, which a check cannot wait for.`);
    }
  }
  return usable;
}

function createRefusal(command: string, reason: string): Error {
  return fail("forbidden", `The check “${shorten(command)}” is not allowed. ${reason}`);
}

const shorten = (command: string) => (command.length > 200 ? `${command.slice(0, 200).toWellFormed()}…` : command);
