import { setTimeout as sleep } from "node:timers/promises";
import { type AgentTarget, fail, isThinkeryError, type ProcessInfo, type ProcessOutput } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { findNearest } from "@thinkery/sdk/internal";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { sanitize } from "../output.ts";
import { parseAgentTarget } from "../target.ts";

const targetHelp = "agent, as alice or alice@review";
const idHelp = "process id from `process ls` (default: the only running one)";
const pollMs = 300;

export function addProcess(program: Command, cli: Cli): void {
  const group = program
    .command("process")
    .description("list, read and stop processes in agents' Linux sandboxes")
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
    .description("list an agent's running and recently ended processes")
    .argument("<target>", targetHelp)
    .addHelpText("after", formatExamples(["process ls alice", ""], ["process ls alice@review", ""]))
    .action(async (text: string) => {
      const { client, target } = await connectToAgent(cli, text);
      const processes = await listProcesses(client, target);
      cli.output.reply({ processes }, () => {
        if (processes.length === 0) return `${target.agent} has no processes.`;
        const rows = processes.map((process) => [process.id, formatState(process), process.startedAt, process.command]);
        return cli.output.formatTable(["ID", "STATE", "STARTED", "COMMAND"], rows);
      });
    });

  group
    .command("logs")
    .description("show the output of a process (if long, its end)")
    .argument("<target>", targetHelp)
    .argument("[id]", idHelp)
    .option("-f, --follow", "follow the output until the process exits")
    .addHelpText("after", formatExamples(["process logs alice", ""], ["process logs -f alice 5fa3c1d0", ""]))
    .action(async (text: string, given: string | undefined, { follow }: { follow?: boolean }) => {
      if (follow && cli.output.isJson) {
        throw fail("bad_request", "--json and --follow cannot be combined.");
      }
      const { client, target } = await connectToAgent(cli, text);
      const id = given ?? (await findOnlyProcess(client, target));
      const found = await readProcess(client, target, id);
      if (cli.output.isJson) return cli.output.writeJson(found);
      await showOutput(cli, found, follow ? (after) => readProcess(client, target, id, after) : undefined);
    });

  group
    .command("stop")
    .description("stop a process and its children")
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
          ? `Stopped process ${id} of ${target.agent}.`
          : `Process ${id} of ${target.agent} has already ended: ${formatState(stopped)}.`,
      );
    });
}

const toParams = ({ agency, agent }: AgentTarget) => ({ agency, agent });

async function connectToAgent(cli: Cli, text: string): Promise<{ client: Client; target: AgentTarget }> {
  const target = parseAgentTarget(cli, text);
  const { client } = await connect(cli);
  await findAgent(client, target);
  return { client, target };
}

async function listProcesses(client: Client, target: AgentTarget): Promise<ProcessInfo[]> {
  return (await withRetry((signal) => client.call("listProcesses", { params: toParams(target), signal }))).processes;
}

function readProcess(client: Client, target: AgentTarget, id: string, after?: number): Promise<ProcessOutput> {
  const query = after === undefined ? {} : { after };
  return callOrSuggest(client, target, id, (signal) =>
    client.call("getProcess", { params: { ...toParams(target), id }, query, signal }),
  );
}

/** Makes a request about a process; if it does not exist, the error suggests the closest id. */
async function callOrSuggest<T>(
  client: Client,
  target: AgentTarget,
  id: string,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await withRetry(request);
  } catch (error) {
    if (!isThinkeryError(error) || error.code !== "not_found") throw error;
    const suggestion = findNearest(
      id,
      (await listProcesses(client, target)).map(({ id }) => id),
    );
    throw fail(
      "not_found",
      `${error.message} ${suggestion ? `Did you mean ${suggestion}?` : `List them with \`thinkery process ls ${formatTarget(target)}\`.`}`,
      suggestion ? { suggestion } : {},
    );
  }
}

async function findOnlyProcess(client: Client, target: AgentTarget): Promise<string> {
  const processes = await listProcesses(client, target);
  const running = processes.filter(({ state }) => state === "running");
  const candidates = running.length > 0 ? running : processes;
  const [only, other] = candidates;
  if (!only) throw fail("not_found", `${target.agent} has no processes.`);
  if (!other) return only.id;
  throw fail(
    "bad_request",
    `${target.agent} has several processes. Specify one: ${candidates.map(({ id }) => id).join(", ")}.`,
  );
}

/** Prints the output so far and, with `next`, new output until the process exits. */
async function showOutput(
  cli: Cli,
  first: ProcessOutput,
  next: ((after: number) => Promise<ProcessOutput>) | undefined,
): Promise<void> {
  let found = first;
  let lastOutput = "";
  for (;;) {
    cli.output.writeChunk(sanitize(found.output));
    if (found.output) lastOutput = found.output;
    if (!next || found.state === "exited") break;
    await sleep(pollMs);
    found = await next(found.outputBytes);
  }
  if (lastOutput && !lastOutput.endsWith("\n")) cli.output.writeChunk("\n");
  cli.output.writeMessage(cli.output.dim(`${found.id}: ${formatState(found)}`));
}

const endTexts = {
  timeout: "timed out",
  stop: "stopped",
  memory_limit: "killed (memory limit)",
  process_limit: "killed (process limit)",
  memory: "out of memory",
  disk: "killed (disk almost full)",
  signal: "killed by a signal",
};

function formatState({ state, exitCode, endedBy }: ProcessInfo): string {
  if (state === "running") return "running";
  return endedBy ? endTexts[endedBy] : `exit code ${exitCode ?? "unknown"}`;
}

function formatTarget({ agency, agent }: AgentTarget): string {
  return agency === "global" ? agent : `${agent}@${agency}`;
}
