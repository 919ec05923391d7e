import type { Cli } from "../cli.ts";
import type { Connection } from "../connect.ts";
import { exitCodes } from "../exit.ts";
import { followRun } from "./follow-run.ts";
import type { RunFlags } from "./run-flags.ts";
import { handleRunInterrupts } from "./run-interrupts.ts";
import { type StartedRun, startRun } from "./start-run.ts";
import type { WorkflowSource } from "./workflow-source.ts";

interface RunWorkflowOptions extends RunFlags {
  source: WorkflowSource;
  message: string | undefined;
  /** Serves until Ctrl+C in place of running until everyone is idle. */
  isResident?: boolean;
  connection?: Connection | undefined;
}

/** Runs a workflow, prints what its agents do and its result, and sets the exit code. Ctrl+C stops it. */
export async function runWorkflow(cli: Cli, options: RunWorkflowOptions): Promise<void> {
  const { isResident = false } = options;
  const interrupts = handleRunInterrupts(cli);
  interrupts.setHandler(() => cli.output.writeNote("Stopping the setup…"));
  const { signal } = interrupts;
  let started: StartedRun;
  try {
    started = await startRun(cli, { ...options, isResident, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    cli.output.writeMessage("Interrupted. The workflow was not started.");
    return cli.setExitCode(exitCodes.interrupted);
  }
  const { connection, run } = started;
  const kind = options.source.kind === "stored" ? "the stored workflow " : "";
  cli.output.writeNote(
    isResident
      ? `Serving ${kind}${run.workflow} as @${run.agency}. Ctrl+C stops it.`
      : `Running ${kind}${run.workflow} as @${run.agency}.`,
  );
  cli.setExitCode(await followRun(cli, connection, run, { interrupts, isResident }));
}
