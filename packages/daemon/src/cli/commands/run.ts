import { randomUUID } from "node:crypto";
import { type AgentTarget, fail, findNameIssue, isThinkeryError, type Mode, nameRules } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { type Connection, connect } from "../connect.ts";
import { ask } from "../conversation/ask.ts";
import { exitCodes } from "../exit.ts";
import { formatExamples } from "../help.ts";
import { readMessage } from "../message.ts";
import { getDefaultAgency, parseAgentTarget } from "../target.ts";
import { createNewTagOption, createVarOption, createYesOption, type RunFlags } from "../workflow/run-flags.ts";
import { runWorkflow } from "../workflow/run-workflow.ts";
import {
  isWorkflowFile,
  parseWorkflowSource,
  readStoredWorkflow,
  type WorkflowSource,
} from "../workflow/workflow-source.ts";
import { createModeOption } from "./send.ts";

interface JobFlags extends RunFlags {
  new?: boolean;
  model?: string;
  system?: string;
  mode: Mode;
  reasoning?: boolean;
}

export function addRun(program: Command, cli: Cli): void {
  createJobCommand(program, "run")
    .description("run a workflow and print its result, or send a message to an agent and stream its response")
    .option("--reasoning", "show the model's reasoning on stderr")
    .addHelpText(
      "after",
      formatExamples(
        ['run alice "What is in the notes?"', ""],
        ["run --new --model anthropic:claude-sonnet-4-5 Say hello", "with a temporary agent"],
        ["run alice < question.txt", ""],
        ["run review.yaml --tag pr-1 --var branch=fix", "a team of agents"],
      ),
    )
    .action((target: string | undefined, words: string[], flags: JobFlags) => runJob(cli, target, words, flags, true));
}

export function addServe(program: Command, cli: Cli): void {
  createJobCommand(program, "serve")
    .description("serve a workflow until Ctrl+C, or send a message to an agent and print only its final response")
    .addHelpText(
      "after",
      formatExamples(
        ['serve alice "One word: yes or no?"', ""],
        ["serve alice --json < question.txt", "include tool calls and usage"],
        ["serve nightly.yaml", "print what its agents write"],
      ),
    )
    .action((target: string | undefined, words: string[], flags: JobFlags) => runJob(cli, target, words, flags, false));
}

function createJobCommand(program: Command, name: string): Command {
  return program
    .command(name)
    .argument("[target]", "agent, as alice, alice/sub-agent or alice@review (omit with --new), or a workflow")
    .argument("[message...]", "message text; reads stdin if omitted or -")
    .option("--new", "use a temporary agent, deleted afterwards")
    .option("-m, --model <id>", "with --new: its model, as provider:model")
    .option("--system <text>", "with --new: its system prompt")
    .addOption(createModeOption())
    .addOption(createNewTagOption())
    .addOption(createVarOption())
    .addOption(createYesOption());
}

async function runJob(
  cli: Cli,
  target: string | undefined,
  words: string[],
  flags: JobFlags,
  stream: boolean,
): Promise<void> {
  const options = { mode: flags.mode, reasoning: flags.reasoning ?? false, stream };
  if (flags.new) {
    if (flags.tag !== undefined || flags.var) throw fail("bad_request", "--tag and --var are for workflows.");
    const message = await readMessage(target === undefined ? words : [target, ...words]);
    const connection = await connect(cli);
    return withTemporaryAgent(cli, connection, flags, async (agent) => {
      const code = await ask(cli, connection, agent, { ...options, message });
      cli.setExitCode(code);
      return code !== exitCodes.waiting;
    });
  }
  if (flags.model !== undefined || flags.system !== undefined) {
    throw fail("bad_request", "--model and --system require --new; existing agents have their own.");
  }
  if (target === undefined)
    throw fail("bad_request", "Missing target. Pass an agent or a workflow, or --new for a temporary agent.");
  const isTeam = isWorkflowFile(target) || flags.tag !== undefined || flags.var !== undefined;
  const existing = isTeam ? undefined : parseAgentTarget(cli, target);
  // Not from stdin before we know that it is for an agent: a workflow needs none.
  const message = words.length === 0 ? undefined : await readMessage(words);
  const runTeam = (source: WorkflowSource, connection?: Connection) =>
    runWorkflow(cli, { ...flags, source, message, isResident: !stream, connection });
  if (!existing) return runTeam(parseWorkflowSource(target));
  const connection = await connect(cli);
  const missing = await findAgent(connection.client, existing).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (missing) {
    await requireStoredWorkflow(connection.client, target, missing);
    return runTeam({ kind: "stored", name: target }, connection);
  }
  cli.setExitCode(await ask(cli, connection, existing, { ...options, message: message ?? (await readMessage(words)) }));
}

/** Throws unless there is a workflow where there is no agent of this name; `missing` says that there is none. */
async function requireStoredWorkflow(client: Client, name: string, missing: unknown): Promise<void> {
  const canBeWorkflow = isThinkeryError(missing) && missing.code === "not_found";
  if (!canBeWorkflow || findNameIssue(nameRules.workflow, name)) throw missing;
  await readStoredWorkflow(client, name).catch((error: unknown) => {
    // Whatever resembles the name is what was meant.
    throw missing.details?.suggestion === undefined && isThinkeryError(error) && error.details?.suggestion
      ? error
      : missing;
  });
}

async function withTemporaryAgent(
  cli: Cli,
  { client }: Connection,
  { model, system }: JobFlags,
  /** Returns whether the agent is no longer needed. */
  use: (agent: AgentTarget) => Promise<boolean>,
): Promise<void> {
  const agent = `job-${randomUUID().slice(0, 8)}`;
  const agency = getDefaultAgency(cli);
  const params = { agency, agent };
  const body = { name: agent, ...(model === undefined ? {} : { model }), ...(system === undefined ? {} : { system }) };
  await client.call("createAgent", { params: { agency }, body });
  let isDone = true;
  try {
    isDone = await use({ kind: "agent", ...params });
  } finally {
    if (!isDone) cli.output.writeMessage(`Kept the agent ${agent}, because its turn waits for you.`);
    else
      await withRetry((signal) => client.call("deleteAgent", { params, signal })).catch((error: unknown) => {
        if (!isThinkeryError(error) || error.code !== "forbidden") throw error;
        cli.output.writeMessage(`Kept the agent ${agent}: deleting it requires a token with the scope “admin”.`);
      });
  }
}
