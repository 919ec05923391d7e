import type { Approval, ApprovalAnswer, AskedCall, RememberScope } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import { toOneLine } from "../conversation/lines.ts";
import { sanitize } from "../output.ts";
import { describeRemembered } from "./answer-approval.ts";
import { formatAsker } from "./explain.ts";
import { formatApproval, formatCalls } from "./format.ts";
import type { PromptTerminal } from "./prompt-terminal.ts";

const choices = "[y]es  [n]o  [e]dit  [a]lways  [d]etails: ";

/** Asks a person to decide about calls. Returns undefined if they do not. */
export async function askAboutApproval(
  terminal: PromptTerminal,
  cli: Cli,
  approval: Approval,
  signal: AbortSignal,
): Promise<Partial<ApprovalAnswer> | undefined> {
  const undecided = approval.calls.filter(({ decision }) => !decision);
  const asker = formatAsker(cli, approval.agent);
  terminal.write(`${asker} asks for approval${undecided.length > 1 ? ` of ${undecided.length} calls` : ""}:`);
  for (const line of formatCalls(undecided, terminal.paint)) terminal.write(`  ${line}`);
  for (;;) {
    const choice = await terminal.ask(choices, signal);
    if (choice === undefined) return undefined;
    switch (choice.trim().toLowerCase()) {
      case "y":
      case "yes":
        return { approved: true };
      case "n":
      case "no": {
        const reason = await terminal.ask("Why? (The agent reads it; Enter for none): ", signal);
        if (reason === undefined) return undefined;
        return { approved: false, ...(reason.trim() === "" ? {} : { reason: reason.trim() }) };
      }
      case "e":
      case "edit": {
        const answer = await editCall(terminal, undecided, signal);
        if (answer) return answer;
        break;
      }
      case "a":
      case "always": {
        const remember = await askScope(terminal, undecided, approval, signal);
        if (remember) return { approved: true, remember };
        break;
      }
      case "d":
      case "details":
        showDetails(terminal, approval, asker);
        break;
      default:
    }
    if (signal.aborted) return undefined;
  }
}

async function editCall(
  terminal: PromptTerminal,
  calls: readonly AskedCall[],
  signal: AbortSignal,
): Promise<Partial<ApprovalAnswer> | undefined> {
  const number = calls.length === 1 ? "1" : await terminal.ask(`Which call? (1-${calls.length}): `, signal);
  const call = calls[Number(number) - 1];
  if (!call) return undefined;
  const before = `${JSON.stringify(call.args, null, 2)}\n`;
  try {
    const after = await terminal.edit(before, "input.json");
    const input = JSON.parse(after) as unknown;
    if (JSON.stringify(input) !== JSON.stringify(call.args))
      return { decisions: [{ callId: call.id, approved: true, input }] };
    terminal.write("Nothing was changed.");
  } catch (error) {
    terminal.write(toOneLine(`It was not changed: ${(error as Error).message}`, 500));
  }
  return undefined;
}

async function askScope(
  terminal: PromptTerminal,
  calls: readonly AskedCall[],
  { agent }: Approval,
  signal: AbortSignal,
): Promise<RememberScope | undefined> {
  terminal.write(`This allows ${toOneLine(describeRemembered(calls), 500)} from now on.`);
  const isSubagent = agent.includes("/");
  const choice = await terminal.ask(
    `For [t]his ${isSubagent ? "sub-agent" : "agent"} or [e]very agent of the agency? (Enter to go back): `,
    signal,
  );
  if (/^t/i.test(choice?.trim() ?? "")) return "agent";
  return /^e/i.test(choice?.trim() ?? "") ? "always" : undefined;
}

function showDetails(terminal: PromptTerminal, approval: Approval, target: string): void {
  const formatFields = (entries: [string, string | undefined][]) =>
    entries
      .flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(8)}  ${sanitize(value)}`]))
      .join("\n");
  const text = formatApproval(approval, { target, paint: terminal.paint, formatFields });
  for (const line of text.split("\n")) terminal.write(`  ${line}`);
  for (const { name, args } of approval.calls) {
    terminal.write(`  Input of ${toOneLine(name, 100)}:`);
    for (const line of sanitize(JSON.stringify(args, null, 2) ?? "").split("\n")) terminal.write(`    ${line}`);
  }
}
