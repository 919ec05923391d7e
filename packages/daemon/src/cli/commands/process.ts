import { setTimeout as sleep } from "node:timers/promises";
import { type AgentTarget, fail, isThinkeryError, type ProcessInfo, type ProcessOutput } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import { findNearest } from "@thinkery/sdk/internal";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { sanitize } from "../output.ts";
import { persist } from "../persist.ts";
import { parseAgentTarget } from "../target.ts";

const targetHelp = "alice or alice@review";
const idHelp = "as `process ls` shows it (default: the only one that runs)";
const pollMs = 300;

export function addProcess(program: Command, cli: Cli): void {
  const group = program
    .command("process")
    .description("list, read and stop what agents run in their Linux sandboxes")
    .addHelpText(
      "after",
      formatExamples(
        ["process ls alice", ""],
        ["process logs -f alice 5fa3c1d0", ""],
        ["process stop alice 5fa3c1d0", ""],
      ),
    );

  group
    .command("ls")
    .description("list the programs that an agent has running, and the latest that ended")
    .argument("<target>", targetHelp)
    .addHelpText("after", formatExamples(["process ls alice", ""], ["process ls alice@review", ""]))
    .action(async (text: string) => {
      const { client, target } = await connectToAgent(cli, text);
      const processes = await listProcesses(client, target);
      cli.output.reply({ processes }, () => {
        if (processes.length === 0) return `${target.agent} runs nothing.`;
        const rows = processes.map((one) => [one.id, formatState(one), one.startedAt, one.command]);
        return cli.output.formatTable(["ID", "STATE", "STARTED", "COMMAND"], rows);
      });
    });

  group
    .command("logs")
    .description("show what one of them wrote; of very much, the end")
    .argument("<target>", targetHelp)
    .argument("[id]", idHelp)
    .option("-f, --follow", "go on with what comes, until it ends")
    .addHelpText("after", formatExamples(["process logs alice", ""], ["process logs -f alice 5fa3c1d0", ""]))
    .action(async (text: string, given: string | undefined, { follow }: { follow?: boolean }) => {
      if (follow && cli.output.isJson) {
        throw fail("bad_request", "--json prints one value and --follow prints what comes; give one of them.");
      }
      const { client, target } = await connectToAgent(cli, text);
      const id = given ?? (await findOnlyProcess(client, target));
      const found = await readProcess(client, target, id);
      if (cli.output.isJson) return cli.output.writeJson(found);
      await showOutput(cli, found, follow ? (after) => readProcess(client, target, id, after) : undefined);
    });

  group
    .command("stop")
    .description("end one of them, with all that it started")
    .argument("<target>", targetHelp)
    .argument("[id]", idHelp)
    .addHelpText("after", formatExamples(["process stop alice 5fa3c1d0", ""]))
    .action(async (text: string, given: string | undefined) => {
      const { client, target } = await connectToAgent(cli, text);
      const id = given ?? (await findOnlyProcess(client, target));
      const stopped = await callOrSuggest(client, target, id, (signal) =>
        client.call("stopProcess", { params: { ...toParams(target), id }, signal }),
      );
      cli.output.reply(stopped, () =>
        stopped.endedBy === "stop"
          ? `Stopped ${id} of ${target.agent}.`
          : `${id} of ${target.agent} had ended already: ${formatState(stopped)}.`,
      );
    });
}

const toParams = ({ agency, agent }: AgentTarget) => ({ agency, agent });

async function connectToAgent(cli: Cli, text: string): Promise<{ client: Client; target: AgentTarget }> {
  const target = parseAgentTarget(text);
  const { client } = await connect(cli);
  await findAgent(client, target);
  return { client, target };
}

async function listProcesses(client: Client, target: AgentTarget): Promise<ProcessInfo[]> {
  return (await persist((signal) => client.call("listProcesses", { params: toParams(target), signal }))).processes;
}

function readProcess(client: Client, target: AgentTarget, id: string, after?: number): Promise<ProcessOutput> {
  const query = after === undefined ? {} : { after };
  return callOrSuggest(client, target, id, (signal) =>
    client.call("getProcess", { params: { ...toParams(target), id }, query, signal }),
  );
}

/** Asks something of one of them; where it is not there, the error has the one that was probably meant. */
async function callOrSuggest<T>(
  client: Client,
  target: AgentTarget,
  id: string,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await persist(ask);
  } catch (error) {
    if (!isThinkeryError(error) || error.code !== "not_found") throw error;
    const meant = findNearest(
      id,
      (await listProcesses(client, target)).map(({ id }) => id),
    );
    throw fail(
      "not_found",
      `${error.message} ${meant ? `Did you mean ${meant}?` : `\`thinkery process ls ${formatTarget(target)}\` lists them.`}`,
      meant ? { suggestion: meant } : {},
    );
  }
}

async function findOnlyProcess(client: Client, target: AgentTarget): Promise<string> {
  const processes = await listProcesses(client, target);
  const running = processes.filter(({ state }) => state === "running");
  const candidates = running.length > 0 ? running : processes;
  const [only, other] = candidates;
  if (!only) throw fail("not_found", `${target.agent} runs nothing.`);
  if (!other) return only.id;
  throw fail(
    "bad_request",
    `${target.agent} has several processes; say which: ${candidates.map(({ id }) => id).join(", ")}.`,
  );
}

/** Shows what there is, and what comes until it ends. */
async function showOutput(
  cli: Cli,
  first: ProcessOutput,
  next: ((after: number) => Promise<ProcessOutput>) | undefined,
): Promise<void> {
  let found = first;
  let ended = "";
  for (;;) {
    cli.output.writeChunk(sanitize(found.output));
    if (found.output) ended = found.output;
    if (!next || found.state === "exited") break;
    await sleep(pollMs);
    found = await next(found.outputBytes);
  }
  if (ended && !ended.endsWith("\n")) cli.output.writeChunk("\n");
  cli.output.writeMessage(cli.output.dim(`${found.id}: ${formatState(found)}`));
}

const endTexts = {
  timeout: "out of time",
  stop: "stopped",
  memory: "out of memory",
  disk: "ended, the disk is almost full",
  signal: "ended by a signal",
};

function formatState({ state, exitCode, endedBy }: ProcessInfo): string {
  if (state === "running") return "running";
  return endedBy ? endTexts[endedBy] : `exit code ${exitCode ?? "unknown"}`;
}

function formatTarget({ agency, agent }: AgentTarget): string {
  return agency === "global" ? agent : `${agent}@${agency}`;
}
