import type { Subagent, SubagentSummary } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { listAgents } from "../lists.ts";
import { type AgentTarget, parseAgencyTarget, parseTarget } from "../target.ts";

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
      const agents = await listAgents(client, agency);
      cli.output.reply({ agents }, () => {
        if (agents.length === 0) return `No agents in ${agency}. Create one with \`thinkery new <name>\`.`;
        const rows = agents.flatMap((agent) => [
          [agent.name, agent.blueprint, agent.model ?? "-", agent.createdAt, ""],
          ...listWorking(agent.name, agent.subagents),
        ]);
        const hasWorking = rows.length > agents.length;
        const columns = ["NAME", "BLUEPRINT", "MODEL", "CREATED", ...(hasWorking ? ["STATUS"] : [])];
        return cli.output.formatTable(columns, hasWorking ? rows : rows.map((row) => row.slice(0, -1)));
      });
    });
}

/** Returns a row for each sub-agent that works, below its parent. `ls alice` lists the others, too. */
function listWorking(parent: string, subagents: readonly SubagentSummary[] = []): string[][] {
  return subagents.flatMap(({ name, blueprint, status, title, createdAt, subagents: own }) => {
    const path = `${parent}/${name}`;
    const below = listWorking(path, own);
    const isWorking = status === "running" || status === "waiting" || below.length > 0;
    return isWorking ? [[path, blueprint, "-", createdAt, `${status}: ${title}`], ...below] : [];
  });
}

async function listSubagents(cli: Cli, client: Client, target: AgentTarget): Promise<void> {
  await findAgent(client, target);
  const { agency, agent } = target;
  const { subagents } = await withRetry((signal) =>
    client.call("listSubagents", { params: { agency, agent }, signal }),
  );
  cli.output.reply({ subagents }, () => {
    if (subagents.length === 0) return `${agent} has no sub-agents.`;
    const hasForks = subagents.some(({ workspace }) => workspace === "fork");
    const rows = subagents.map((subagent) => [
      subagent.facetName,
      subagent.agentType,
      subagent.deleted ? `${subagent.status}, deleted` : subagent.status,
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
