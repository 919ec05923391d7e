import { randomUUID } from "node:crypto";
import type { AgentTarget, Mode, Outcome, Subagent } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import type { Connection } from "../connect.ts";
import { exitCodes } from "../exit.ts";
import { stopOnInterrupt } from "../interrupt.ts";
import { sanitize } from "../output.ts";
import { converse } from "./converse.ts";
import { formatFailure } from "./lines.ts";
import { toOutcomeExitCode } from "./outcome.ts";
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

/** How a turn ended, and the sub-agents that it delegated to. */
type AskOutcome = Outcome & { subagents?: Subagent[] };

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
  { output }: Cli,
  connection: Connection,
  target: AgentTarget,
  { message, mode = "queue", key = randomUUID(), stream, showProgress = false, reasoning = false }: AskOptions,
  cancel: AbortSignal,
): Promise<AskOutcome> {
  const isShown = stream || (showProgress && output.isStderrTTY);
  const subagents = new SubagentLines();
  const printer =
    isShown && !output.isJson ? new Printer(output, { response: stream, reasoning, live: true, subagents }) : undefined;
  const note = (line: string) => (printer ? printer.writeLine(line) : output.writeNote(line));
  const listener = printer ?? { ...silentListener, onSubagent: (event) => void subagents.apply(event) };
  const outcome = await converse({ connection, target, message, id: key, mode, listener, note, cancel });
  printer?.end();
  if (!stream && !output.isJson && outcome.content !== "") output.writeText(sanitize(outcome.content));
  if (outcome.status === "canceled") output.writeMessage("The turn was canceled.");
  if (outcome.failure) output.writeMessage(`thinkery: ${formatFailure(outcome.failure)}`);
  return subagents.list.length > 0 ? { ...outcome, subagents: subagents.list } : outcome;
}
