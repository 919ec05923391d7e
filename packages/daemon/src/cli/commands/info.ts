import type { AgentStatus, DiskUsage, Run, Subagent } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { createMissingAgencyError, findAgent, findUsedModel } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect, type Connection } from "../connect.ts";
import { formatSize } from "../files/format.ts";
import { formatPath } from "../format-path.ts";
import { formatExamples } from "../help.ts";
import { listAgencies, listAgents } from "../lists.ts";
import { type AgentTarget, parseTarget } from "../target.ts";
import { summarizeWaits } from "../waits/explain.ts";
import { listWaits } from "../waits/inbox.ts";
import { readUsage } from "./stats.ts";

export function addInfo(program: Command, cli: Cli): void {
  program
    .command("info")
    .description("show an agent or agency")
    .argument("<target>", "alice, alice/sub-agent, alice@review or @review")
    .addHelpText("after", formatExamples(["info alice@review", ""], ["info @review", "the agency itself"]))
    .action(async (text: string) => {
      const target = parseTarget(cli, text);
      const connection = await connect(cli);
      await (target.kind === "agent"
        ? showAgent(cli, connection, target)
        : showAgency(cli, connection.client, target.agency));
    });
}

async function showAgent(cli: Cli, { client, worker }: Connection, target: AgentTarget): Promise<void> {
  const { agent, agency } = target;
  const found = await findAgent(client, target);
  const { state, run } = await withRetry((signal) => client.call("getState", { params: { agency, agent }, signal }));
  const { turns } = await readUsage(client, agency, agent);
  const disk = await withRetry((signal) => client.call("getDiskUsage", { params: { agency, agent }, signal }));
  const { subagents } = await withRetry((signal) =>
    client.call("listSubagents", { params: { agency, agent }, signal }),
  );
  const waits = await listWaits(client, target);
  const usedModel = await findUsedModel(client, target);
  const { title } = state;
  const queued = Math.max(0, turns.open - (run.status === "running" || run.status === "paused" ? 1 : 0));
  cli.output.reply(
    {
      ...found,
      status: state.status,
      run,
      title,
      usedModel,
      queued,
      disk,
      subagents,
      ...waits,
      ...(worker ? { worker } : {}),
    },
    () =>
      cli.output.formatFields([
        ["name", found.name],
        ["title", title],
        ["agency", found.agency],
        ["status", formatStatus(state.status, run)],
        ["waits for", summarizeWaits(cli, waits, target).join("\n") || undefined],
        ["queued", queued === 0 ? undefined : String(queued)],
        ["blueprint", found.blueprint],
        ["driver", found.driver],
        ["worker", worker && formatPath(worker)],
        ["model", found.model ?? "default"],
        ["last used", usedModel],
        ["system", found.system],
        ["files", `${disk.files.files} (${formatSize(disk.files.bytes)})`],
        ["branches", disk.branches.branches === 0 ? undefined : formatBranches(disk)],
        ["blobs", disk.blobs.blobs === 0 ? undefined : `${disk.blobs.blobs} (${formatSize(disk.blobs.bytes)})`],
        ["disk", formatSize(disk.totalBytes)],
        ["parent", found.parent],
        ["sub-agents", formatSubagents(subagents)],
        ["owner", found.owner],
        ["created", found.createdAt],
      ]),
  );
}

const maxListedSubagents = 10;

function formatSubagents(subagents: readonly Subagent[]): string | undefined {
  if (subagents.length === 0) return undefined;
  const listed = subagents.slice(0, maxListedSubagents).map(({ facetName, agentType, status, merge }) => {
    const unmerged = merge?.isMerged === false ? ", not merged" : "";
    return `${facetName} (${agentType}, ${status}${unmerged})`;
  });
  const rest = subagents.length - listed.length;
  return [...listed, ...(rest > 0 ? [`and ${rest} more`] : [])].join(", ");
}

function formatBranches({ branches }: DiskUsage): string {
  return `${branches.branches}, with ${branches.files} changed files (${formatSize(branches.bytes)})`;
}

function formatStatus(status: AgentStatus["status"], run: Run): string {
  if (status === "stopped") return "stopped";
  return run.reason ? `${run.status} (${run.reason})` : run.status;
}

async function showAgency(cli: Cli, client: Client, id: string): Promise<void> {
  const found = (await listAgencies(client)).find((agency) => agency.id === id);
  if (!found) throw await createMissingAgencyError(client, id);
  const agents = (await listAgents(client, id)).map(({ name }) => name);
  cli.output.reply({ ...found, agents }, () =>
    cli.output.formatFields([
      ["agency", found.id],
      ["name", found.name],
      ["owner", found.owner],
      ["created", found.createdAt],
      ["agents", agents.join(", ") || "none"],
    ]),
  );
}
