import { formatSubagentStatus, type Subagent, type SubagentSummary } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { listAgents } from "../lists.ts";
import { type AgentTarget, parseAgencyTarget, parseTarget } from "../target.ts";
import { getAgentPath, listWaits, type OpenWaits } from "../waits/inbox.ts";

export function addLs(program: Command, cli: Cli): void {
  program
    .command("ls")
    .description("list agents, or an agent's sub-agents")
    .argument("[target]", "agency, as @review (default: @global), or an agent, as alice or alice/sub-agent")
    .addHelpText("after", formatExamples(["ls", ""], ["ls @review:pr-123", ""], ["ls alice", "her sub-agents"]))
    .action(async (text: string | undefined) => {
      const target = text === undefined ? parseAgencyTarget(cli, text) : parseTarget(cli, text);
      const { client } = await connect(cli);
      if (target.kind === "agent") return listSubagents(cli, client, target);
      const { agency } = target;
      const [agents, waits] = await Promise.all([listAgents(client, agency), listWaits(client, target)]);
      const waitNotes = createWaitNotes(waits);
      const open = Object.fromEntries(Object.entries(waits).filter(([, items]) => items.length > 0));
      cli.output.reply({ agents, ...open }, () => {
        if (agents.length === 0) return `No agents in ${agency}. Create one with \`thinkery new <name>\`.`;
        const rows = agents.flatMap((agent) => [
          [agent.name, agent.blueprint, agent.model ?? "-", agent.createdAt, waitNotes.get(agent.name) ?? ""],
          ...listWorking(agent.name, waitNotes, agent.subagents),
        ]);
        const hasWorking = rows.some((row) => row.at(-1) !== "");
        const columns = ["NAME", "BLUEPRINT", "MODEL", "CREATED", ...(hasWorking ? ["STATUS"] : [])];
        return cli.output.formatTable(columns, hasWorking ? rows : rows.map((row) => row.slice(0, -1)));
      });
    });
}

/** Returns a row for each sub-agent that works, below its parent. `ls alice` lists the others, too. */
function listWorking(
  parent: string,
  waitNotes: ReadonlyMap<string, string>,
  subagents: readonly SubagentSummary[] = [],
): string[][] {
  return subagents.flatMap((subagent) => {
    const { name, blueprint, status, title, createdAt, subagents: own } = subagent;
    const path = `${parent}/${name}`;
    const below = listWorking(path, waitNotes, own);
    const isWorking = status === "running" || status === "waiting" || below.length > 0;
    const note = waitNotes.get(path) ?? formatSubagentStatus(subagent);
    return isWorking ? [[path, blueprint, "-", createdAt, `${note}: ${title}`], ...below] : [];
  });
}

/** Returns what agents wait for, by their path in the agency. */
function createWaitNotes({ approvals, questions }: OpenWaits): Map<string, string> {
  return new Map([
    ...questions.map(({ agent }) => [getAgentPath(agent), "waits for an answer"] as const),
    ...approvals.map(({ agent }) => [getAgentPath(agent), "waits for approval"] as const),
  ]);
}

async function listSubagents(cli: Cli, client: Client, target: AgentTarget): Promise<void> {
  await findAgent(client, target);
  const { agency, agent } = target;
  const { subagents } = await withRetry((signal) =>
    client.call("listSubagents", { params: { agency, agent }, signal }),
  );
  const waitNotes = createWaitNotes(await listWaits(client, target));
  cli.output.reply({ subagents }, () => {
    if (subagents.length === 0) return `${agent} has no sub-agents.`;
    const hasForks = subagents.some(({ workspace }) => workspace === "fork");
    const rows = subagents.map((subagent) => [
      subagent.facetName,
      subagent.agentType,
      subagent.deleted
        ? `${subagent.status}, deleted`
        : (waitNotes.get(`${agent}/${subagent.facetName}`) ?? formatSubagentStatus(subagent)),
      ...(hasForks ? [formatFork(subagent)] : []),
      subagent.title,
    ]);
    return cli.output.formatTable(["NAME", "BLUEPRINT", "STATUS", ...(hasForks ? ["BRANCH"] : []), "TASK"], rows);
  });
}

/** What became of a sub-agent's branch, which has its name. */
function formatFork({ workspace, branch, merge }: Subagent): string {
  if (workspace !== "fork") return "-";
  if (!merge) return branch === undefined ? "none" : "open";
  if (!merge.isMerged) return merge.check ? "check failed" : "not merged";
  const overlaps = merge.overlaps.length + (merge.moreOverlaps ?? 0);
  return overlaps > 0 ? `merged, ${overlaps} ${overlaps === 1 ? "overlap" : "overlaps"}` : "merged";
}
