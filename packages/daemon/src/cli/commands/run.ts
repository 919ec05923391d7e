import { randomUUID } from "node:crypto";
import { type AgentTarget, fail, globalAgency, type Mode } from "@thinkery/sdk";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { type Connection, connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { readMessage } from "../message.ts";
import { persist } from "../persist.ts";
import { ask } from "../talk/ask.ts";
import { parseAgentTarget } from "../target.ts";
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
    .description("say something to an agent and show the answer as it comes")
    .option("--reasoning", "show what the model thinks, on stderr")
    .addHelpText(
      "after",
      formatExamples(
        ['run alice "What is in the notes?"', ""],
        ["run --new --model anthropic:claude-sonnet-4-5 Say hello", "an agent for this once"],
        ["run alice < question.txt", ""],
      ),
    )
    .action((target: string | undefined, words: string[], flags: JobFlags) => runJob(cli, target, words, flags, true));
}

export function addServe(program: Command, cli: Cli): void {
  createJobCommand(program, "serve")
    .description("say something to an agent, wait, and print the answer alone")
    .addHelpText(
      "after",
      formatExamples(
        ['serve alice "One word: yes or no?"', ""],
        ["serve alice --json < question.txt", "with tool calls and usage"],
      ),
    )
    .action((target: string | undefined, words: string[], flags: JobFlags) => runJob(cli, target, words, flags, false));
}

function createJobCommand(program: Command, name: string): Command {
  return program
    .command(name)
    .argument("[target]", "alice or alice@review; none with --new")
    .argument("[message...]", "what to say; - or nothing reads stdin")
    .option("--new", "use an agent made for this job and removed after it")
    .option("-m, --model <id>", "with --new: its model, as provider:model")
    .option("--system <text>", "with --new: its instructions")
    .addOption(createModeOption());
}

async function runJob(
  cli: Cli,
  target: string | undefined,
  words: string[],
  flags: JobFlags,
  stream: boolean,
): Promise<void> {
  const question = { mode: flags.mode, reasoning: flags.reasoning ?? false, stream };
  if (flags.new) {
    const message = await readMessage(target === undefined ? words : [target, ...words]);
    const connection = await connect(cli);
    return withTemporaryAgent(connection, flags, async (made) =>
      cli.setExitCode(await ask(cli, connection, made, { ...question, message })),
    );
  }
  if (flags.model !== undefined || flags.system !== undefined) {
    throw fail("bad_request", "--model and --system are for an agent made with --new; others have their own.");
  }
  if (target === undefined)
    throw fail("bad_request", "A target is missing; write alice, or --new for an agent for this once.");
  refuseFile(target);
  const existing = parseAgentTarget(target);
  const message = await readMessage(words);
  const connection = await connect(cli);
  await findAgent(connection.client, existing);
  cli.setExitCode(await ask(cli, connection, existing, { ...question, message }));
}

function refuseFile(target: string): void {
  if (!/\.ya?ml$|[/\\]/i.test(target)) return;
  throw fail("bad_request", `“${target}” is a file; workflow files cannot be run yet. Name an agent, or use --new.`);
}

async function withTemporaryAgent(
  { client }: Connection,
  { model, system }: JobFlags,
  use: (made: AgentTarget) => Promise<void>,
): Promise<void> {
  const agent = `job-${randomUUID().slice(0, 8)}`;
  const params = { agency: globalAgency, agent };
  const body = { name: agent, ...(model === undefined ? {} : { model }), ...(system === undefined ? {} : { system }) };
  await client.call("createAgent", { params: { agency: globalAgency }, body });
  try {
    await use({ kind: "agent", ...params });
  } finally {
    await persist((signal) => client.call("deleteAgent", { params, signal }));
  }
}
