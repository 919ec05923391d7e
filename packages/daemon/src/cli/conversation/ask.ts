import { randomUUID } from "node:crypto";
import type { AgentTarget, Mode, Outcome, Subagent } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import type { Connection } from "../connect.ts";
import { exitCodes } from "../exit.ts";
import { stopOnInterrupt } from "../interrupt.ts";
import { sanitize } from "../output.ts";
import { explainWaits } from "../waits/explain.ts";
import type { OpenWaits } from "../waits/inbox.ts";
import { createPromptTerminal } from "../waits/prompt-terminal.ts";
import { Prompter } from "../waits/prompter.ts";
import { converse } from "./converse.ts";
import { formatFailure } from "./lines.ts";
import { toOutcomeExitCode, type WaitingTurn } from "./outcome.ts";
import { Printer } from "./printer.ts";
import { SubagentLines } from "./subagent-lines.ts";
import type { TranscriptListener } from "./transcript.ts";

export interface AskOptions {
  message: string;
  mode?: Mode;
  /** Idempotency key of the message. */
  key?: string;
  /** Streams the response instead of printing it at the end. */
  stream: boolean;
  /** Without `stream`: shows progress on stderr if it is a terminal. */
  showProgress?: boolean;
  reasoning?: boolean;
}

/** How a turn ended, or what it waits for, and the sub-agents that it delegated to. */
type AskOutcome = (Outcome | WaitingTurn) & { subagents?: Subagent[] };

const silentListener: TranscriptListener = { onText: () => {}, onParagraph: () => {}, onRestart: () => {} };

/** Sends a message, prints the response and returns the exit code. Ctrl+C cancels the turn. */
export async function ask(cli: Cli, connection: Connection, target: AgentTarget, options: AskOptions): Promise<number> {
  const { output } = cli;
  const cancel = stopOnInterrupt(cli, () =>
    output.writeNote("Canceling the turn… Press Ctrl+C again to quit and leave it running."),
  );
  const outcome = await askOnce(cli, connection, target, options, cancel);
  if (output.isJson) output.writeJson(outcome);
  return outcome.status === "canceled" && cancel.aborted ? exitCodes.interrupted : toOutcomeExitCode(outcome);
}

/** Like `ask`, but returns the outcome and does not print it as JSON. */
export async function askOnce(
  cli: Cli,
  connection: Connection,
  target: AgentTarget,
  { message, mode = "queue", key = randomUUID(), stream, showProgress = false, reasoning = false }: AskOptions,
  cancel: AbortSignal,
): Promise<AskOutcome> {
  const { output } = cli;
  const isShown = stream || (showProgress && output.isStderrTTY);
  const subagents = new SubagentLines();
  const printer =
    isShown && !output.isJson ? new Printer(output, { response: stream, reasoning, live: true, subagents }) : undefined;
  const note = (line: string) => (printer ? printer.writeLine(line) : output.writeNote(line));
  const listener = printer ?? { ...silentListener, onSubagent: (event) => void subagents.apply(event) };
  let leave = () => {};
  const prompter = createPrompter(cli, connection, printer, () => leave());
  const onWaits =
    prompter &&
    ((waits: OpenWaits, leaveTurn: () => void) => {
      leave = leaveTurn;
      prompter.update(waits);
    });
  const outcome = await converse({ connection, target, message, id: key, mode, listener, note, cancel, onWaits });
  prompter?.close();
  printer?.end();
  const withSubagents = subagents.list.length > 0 ? { subagents: subagents.list } : {};
  if (outcome.status === "waiting") {
    for (const line of explainWaits(cli, outcome, (diff) => output.colorStderrDiffLine(diff)))
      output.writeMessage(line);
    return { ...outcome, ...withSubagents };
  }
  if (!stream && !output.isJson && outcome.content !== "") output.writeText(sanitize(outcome.content));
  if (outcome.status === "canceled") output.writeMessage("The turn was canceled.");
  if (outcome.failure) output.writeMessage(`thinkery: ${formatFailure(outcome.failure)}`);
  return { ...outcome, ...withSubagents };
}

/** Returns who asks the person at the terminal, if there is one. */
function createPrompter(
  cli: Cli,
  { client }: Connection,
  printer: Printer | undefined,
  onLeave: () => void,
): Prompter | undefined {
  if (!cli.isInteractive || cli.output.isJson) return undefined;
  return new Prompter({
    cli,
    client,
    terminal: createPromptTerminal(cli),
    onActive: (isActive) => printer?.setSuspended(isActive),
    onLeave,
  });
}
