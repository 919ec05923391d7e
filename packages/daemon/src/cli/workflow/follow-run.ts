import { type AgencyTarget, fail, type JobEvent, type WorkflowRun } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import type { Cli } from "../cli.ts";
import type { Connection } from "../connect.ts";
import { formatApprovalAsked } from "../conversation/lines.ts";
import { wait } from "../wait.ts";
import { formatTarget } from "../waits/explain.ts";
import { InboxWatch } from "../waits/inbox-watch.ts";
import { listWaits, type OpenWaits } from "../waits/inbox.ts";
import { createPromptTerminal } from "../waits/prompt-terminal.ts";
import { Prompter } from "../waits/prompter.ts";
import { AgentLines } from "./agent-lines.ts";
import { printRunEnd } from "./run-end.ts";
import type { RunInterrupts } from "./run-interrupts.ts";
import { RunPrinter } from "./run-printer.ts";

interface FollowRunOptions {
  /** Ctrl+C stops the run. Without it, Ctrl+C only ends the command. */
  interrupts?: RunInterrupts;
  /** Messages and replies are what the command prints, until the run is stopped. */
  isResident?: boolean;
  maxEarlierMessages?: number;
}

const checkMs = 500;

/** Follows a run until it ends, or waits for somebody who is not here. Returns the exit code. */
export async function followRun(
  cli: Cli,
  connection: Connection,
  { agency, agents: names }: WorkflowRun,
  { interrupts, isResident = false, maxEarlierMessages }: FollowRunOptions,
): Promise<number> {
  const { output } = cli;
  const { client } = connection;
  const handle = client.workflowRun(agency);
  const target: AgencyTarget = { kind: "agency", agency };
  const agents = new AgentLines();
  const printer = output.isJson
    ? undefined
    : new RunPrinter(output, agents, { isOutput: isResident, isLone: names.length === 1 });
  const note = (line: string) => (printer ? printer.note(line) : output.writeNote(line));
  const leaving = new AbortController();
  const prompting = openPrompts(cli, connection, target, printer, () => leaving.abort());

  let stopped: Promise<unknown> | undefined;
  interrupts?.setHandler(() => {
    note("Stopping the run… Press Ctrl+C again to quit and leave it going.");
    // It may be over already.
    stopped = handle
      .stop()
      .catch((error: Error) => note(error.message))
      .finally(() => leaving.abort());
  });
  // A person at a terminal is asked, and `serve` can wait.
  if (!prompting && !isResident) void leaveWhenWaiting(client, target, agents, leaving);

  let ended: WorkflowRun | undefined;
  try {
    const events = handle.events({
      signal: leaving.signal,
      ...(maxEarlierMessages === undefined ? {} : { maxEarlierMessages }),
      onConnection: (isConnected) => note(isConnected ? "Reconnected." : "Connection lost; reconnecting…"),
    });
    for await (const event of events) {
      agents.apply(event);
      printer?.apply(event);
      if (isResident && !prompting) noteWait(cli, event, agency, note);
      if (isResident && output.isJson && isOutput(event)) output.writeJsonLine(event);
      if (event.type === "error") throw fail("unavailable", event.message);
      if (event.type === "done" && event.run) ended = event.run;
    }
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    await stopped;
    leaving.abort();
    prompting?.close();
    printer?.end();
  }
  const run = ended ?? (await handle.describe());
  const isOpen = run.status === "running" || run.status === "waiting";
  const waits = isOpen && !interrupts?.signal.aborted ? await listWaits(client, target) : undefined;
  return printRunEnd(cli, run, { isResident, isInterrupted: interrupts?.signal.aborted ?? false, waits });
}

const isOutput = (event: JobEvent) => event.type === "message" || event.type === "turn_end";

function noteWait(cli: Cli, event: JobEvent, agency: string, note: (line: string) => void): void {
  const asker = formatTarget(cli, { agent: event.agent, agency });
  if (event.type === "approval") note(`${asker}: ${formatApprovalAsked({ id: event.approvalId, calls: event.calls })}`);
  else if (event.type === "question") note(`${asker} asks: ${event.prompt} Answer with \`thinkery answer ${asker}\`.`);
}

/** Asks the person at the terminal what the agents wait for. Returns undefined if there is nobody. */
function openPrompts(
  cli: Cli,
  connection: Connection,
  target: AgencyTarget,
  printer: RunPrinter | undefined,
  onLeave: () => void,
): { close(): void } | undefined {
  if (!cli.isInteractive || !printer) return undefined;
  const prompter = new Prompter({
    cli,
    client: connection.client,
    terminal: createPromptTerminal(cli),
    onActive: (isActive) => printer.setSuspended(isActive),
    onLeave,
  });
  const inbox = new InboxWatch({
    connection,
    target,
    onWaits: (waits: OpenWaits) => prompter.update(waits),
    onError: (error) => printer.note(error instanceof Error ? error.message : String(error)),
  });
  return {
    close() {
      inbox.close();
      prompter.close();
    },
  };
}

/** Aborts `leaving` when all work waits for a person. */
async function leaveWhenWaiting(
  client: Client,
  target: AgencyTarget,
  agents: AgentLines,
  leaving: AbortController,
): Promise<void> {
  while (!leaving.signal.aborted) {
    await wait(checkMs, leaving.signal);
    if (!agents.isWaiting) continue;
    const waits = await listWaits(client, target).catch(() => undefined);
    const isWaiting = waits !== undefined && waits.approvals.length + waits.questions.length > 0;
    if (isWaiting && agents.isWaiting) leaving.abort();
  }
}
