import { randomUUID } from "node:crypto";
import type { AgentTarget, Mode, Outcome } from "@thinkery/sdk";
import type { Cli } from "../cli.ts";
import type { Connection } from "../connect.ts";
import { exitCodes } from "../exit.ts";
import { stopOnInterrupt } from "../interrupt.ts";
import { sanitize } from "../output.ts";
import { converse } from "./converse.ts";
import { formatFailure } from "./lines.ts";
import { toOutcomeExitCode } from "./outcome.ts";
import { Printer } from "./printer.ts";
import type { TranscriptListener } from "./transcript.ts";

export interface Question {
  message: string;
  mode?: Mode;
  /** The message's id, for whoever may ask twice. */
  key?: string;
  /** Show the answer as it comes. */
  stream: boolean;
  /** Where it is not: show a person what is done meanwhile. */
  deeds?: boolean;
  reasoning?: boolean;
}

const silentListener: TranscriptListener = { onText: () => {}, onParagraph: () => {}, onRestart: () => {} };

/** Says one thing to an agent, shows what comes of it, and says what to exit with. Ctrl+C cancels the turn. */
export async function ask(cli: Cli, connection: Connection, target: AgentTarget, question: Question): Promise<number> {
  const { output } = cli;
  const cancel = stopOnInterrupt(cli, () => output.writeNote("Canceling the turn; Ctrl+C again leaves it running."));
  const outcome = await askOnce(cli, connection, target, question, cancel);
  if (output.isJson) output.writeJson(outcome);
  return outcome.status === "canceled" && cancel.aborted ? exitCodes.interrupted : toOutcomeExitCode(outcome);
}

/** The same for whoever asks more than once; with --json nothing but notes is shown. */
export async function askOnce(
  { output }: Cli,
  connection: Connection,
  target: AgentTarget,
  { message, mode = "queue", key = randomUUID(), stream, deeds = false, reasoning = false }: Question,
  cancel: AbortSignal,
): Promise<Outcome> {
  const isShown = stream || (deeds && output.isStderrTTY);
  const printer = isShown && !output.isJson ? new Printer(output, { answer: stream, reasoning }) : undefined;
  const note = (line: string) => (printer ? printer.writeLine(line) : output.writeNote(line));
  const listener = printer ?? silentListener;
  const outcome = await converse({ connection, target, message, id: key, mode, listener, note, cancel });
  printer?.end();
  if (!stream && !output.isJson && outcome.content !== "") output.writeText(sanitize(outcome.content));
  if (outcome.status === "canceled") output.writeMessage("The turn was canceled.");
  if (outcome.failure) output.writeMessage(`thinkery: ${formatFailure(outcome.failure)}`);
  return outcome;
}
