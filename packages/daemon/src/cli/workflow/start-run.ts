import { fail, type NewWorkflowRun, type Workflow, type WorkflowRun } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { SetupListener } from "../../workflow/setup.ts";
import type { Cli } from "../cli.ts";
import { connect, type Connection } from "../connect.ts";
import { toOneLine } from "../conversation/lines.ts";
import { formatDuration } from "../duration.ts";
import { sanitize } from "../output.ts";
import { confirmSetup } from "./confirm-setup.ts";
import { findRun } from "./find-run.ts";
import { createTag, type RunFlags } from "./run-flags.ts";
import { readStoredWorkflow, readWorkflowFile, type WorkflowSource } from "./workflow-source.ts";

export interface StartOptions extends RunFlags {
  source: WorkflowSource;
  message?: string | undefined;
  isResident: boolean | "if-scheduled";
  /** Ends the setup. */
  signal: AbortSignal;
  /** Without it, one is opened when the workflow was checked. */
  connection?: Connection | undefined;
}

export interface StartedRun {
  connection: Connection;
  run: WorkflowRun;
}

/** Reads and checks a workflow, runs its setup here, and starts it. */
export async function startRun(cli: Cli, options: StartOptions): Promise<StartedRun> {
  const { source, message, signal, yes } = options;
  const { parseVariables } = await import("../../workflow/variables.ts");
  const { checkRun, prepareRun } = await import("../../workflow/prepare-run.ts");
  const vars = parseVariables(options.var ?? []);
  let { connection } = options;
  let workflow: Workflow;
  if (source.kind === "file") workflow = await readWorkflowFile(cli, source.file, vars);
  else {
    connection ??= await connect(cli);
    workflow = await readStoredWorkflow(connection.client, source.name);
  }
  const isScheduled = Object.values(workflow.agents).some(({ schedule }) => schedule !== undefined);
  const isResident = options.isResident === "if-scheduled" ? isScheduled : options.isResident;
  const tag = options.tag ?? createTag(new Date());
  const given = { workflow, tag, vars, message, isResident, cwd: cli.cwd, env: cli.env, signal };
  checkRun(given);
  connection ??= await connect(cli);
  const { client } = connection;
  const agency = `${workflow.name}:${tag}`;
  if (options.tag !== undefined) await checkEarlierRun(cli, client, agency);
  if (source.kind === "stored") await confirmSetup(cli, workflow, connection, yes ?? false);
  const request = await prepareRun({ ...given, listener: createSetupListener(cli) });
  signal.throwIfAborted();
  return { connection, run: await createRun(client, request) };
}

/** Refuses to start a run that is going, before its setup runs again. */
async function checkEarlierRun(cli: Cli, client: Client, agency: string): Promise<void> {
  const run = await findRun(client, agency);
  if (!run) return;
  if (run.status === "completed" || run.status === "failed") {
    const age = formatDuration((Date.now() - Date.parse(run.endedAt ?? run.startedAt)) / 1000);
    return cli.output.writeNote(
      `Running again in @${agency}, which ${run.status} ${age} ago. Its agents remember that run.`,
    );
  }
  const advice =
    run.status === "stopped"
      ? `Resume it with \`thinkery workflow start @${agency}\`, or choose another tag.`
      : `Follow it with \`thinkery workflow follow @${agency}\`, stop it with \`thinkery workflow stop @${agency}\`, or choose another tag.`;
  throw fail("conflict", `The run @${agency} is ${run.status}. ${advice}`);
}

/** Starts a run. Repeats the request while the host is unavailable. */
function createRun(client: Client, request: NewWorkflowRun): Promise<WorkflowRun> {
  const body = { ...request, idempotencyKey: crypto.randomUUID() };
  return withRetry((signal) => client.call("createWorkflowRun", { body, signal }));
}

function createSetupListener({ output }: Cli): SetupListener {
  return {
    onStep({ number, count, name, command }) {
      const lines = command.trim().split("\n");
      const more = lines.length > 1 ? ` (${lines.length} lines)` : "";
      const title = name === undefined ? "" : ` (${name})`;
      output.writeNote(`Setup ${number}/${count}${title}: $ ${toOneLine(lines[0] ?? "", 100)}${more}`);
    },
    onErrorLine: (line) => output.writeNote(`  │ ${sanitize(line)}`),
    onResult({ output: text, ms }) {
      const size = text === "" ? "no output" : `${text.split("\n").length} lines`.replace(/^1 lines/, "1 line");
      output.writeNote(`  → ${size} (${(ms / 1000).toFixed(1)} s)`);
    },
  };
}
