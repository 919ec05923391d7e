import { randomUUID } from "node:crypto";
import { type AgentTarget, fail, isThinkeryError, type Mode } from "@thinkery/sdk";
import { withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { type Connection, connect } from "../connect.ts";
import { ask } from "../conversation/ask.ts";
import { exitCodes } from "../exit.ts";
import { formatExamples } from "../help.ts";
import { readMessage } from "../message.ts";
import { getDefaultAgency, parseAgentTarget } from "../target.ts";
import { createModeOption } from "./send.ts";

interface JobFlags {
  new?: boolean;
  model?: string;
  system?: string;
  mode: Mode;
  reasoning?: boolean;
}

export function addRun(program: Command, cli: Cli): void {
  createJobCommand(program, "run")
    .description("send a message to an agent and stream its response")
    .option("--reasoning", "show the model's reasoning on stderr")
    .addHelpText(
      "after",
      formatExamples(
        ['run alice "What is in the notes?"', ""],
        ["run --new --model anthropic:claude-sonnet-4-5 Say hello", "with a temporary agent"],
        ["run alice < question.txt", ""],
      ),
    )
    .action((target: string | undefined, words: string[], flags: JobFlags) => runJob(cli, target, words, flags, true));
}

export function addServe(program: Command, cli: Cli): void {
  createJobCommand(program, "serve")
    .description("send a message to an agent and print only its final response")
    .addHelpText(
      "after",
      formatExamples(
        ['serve alice "One word: yes or no?"', ""],
        ["serve alice --json < question.txt", "include tool calls and usage"],
      ),
    )
    .action((target: string | undefined, words: string[], flags: JobFlags) => runJob(cli, target, words, flags, false));
}

function createJobCommand(program: Command, name: string): Command {
  return program
    .command(name)
    .argument("[target]", "agent, as alice, alice/sub-agent or alice@review (omit with --new)")
    .argument("[message...]", "message text; reads stdin if omitted or -")
    .option("--new", "use a temporary agent, deleted afterwards")
    .option("-m, --model <id>", "with --new: its model, as provider:model")
    .option("--system <text>", "with --new: its system prompt")
    .addOption(createModeOption());
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
  if (target === undefined) throw fail("bad_request", "Missing target. Pass an agent, or --new for a temporary one.");
  refuseFile(target);
  const existing = parseAgentTarget(cli, target);
  const message = await readMessage(words);
  const connection = await connect(cli);
  await findAgent(connection.client, existing);
  cli.setExitCode(await ask(cli, connection, existing, { ...options, message }));
}

function refuseFile(target: string): void {
  if (!/\.ya?ml$|^\.*[/\\]|\\/i.test(target)) return;
  throw fail(
    "bad_request",
    `“${target}” is a file; running workflow files is not supported yet. Pass an agent, or --new.`,
  );
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
