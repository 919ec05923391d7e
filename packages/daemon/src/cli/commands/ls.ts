import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { listAgents } from "../lists.ts";
import { parseAgencyTarget } from "../target.ts";

export function addLs(program: Command, cli: Cli): void {
  program
    .command("ls")
    .description("list agents")
    .argument("[agency]", "agency, as @review (default: @global)")
    .addHelpText("after", formatExamples(["ls", ""], ["ls @review:pr-123", ""]))
    .action(async (target: string | undefined) => {
      const { agency } = parseAgencyTarget(cli, target);
      const { client } = await connect(cli);
      const agents = await listAgents(client, agency);
      cli.output.reply({ agents }, () => {
        if (agents.length === 0) return `No agents in ${agency}. Create one with \`thinkery new <name>\`.`;
        const rows = agents.map((agent) => [agent.name, agent.blueprint, agent.model ?? "-", agent.createdAt]);
        return cli.output.formatTable(["NAME", "BLUEPRINT", "MODEL", "CREATED"], rows);
      });
    });
}
