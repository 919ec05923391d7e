import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { readAllPages } from "../lists.ts";
import { parseAgencyTarget } from "../target.ts";

export function addList(group: Command, cli: Cli): void {
  group
    .command("ls")
    .description("list the packages of an agency")
    .argument("[agency]", "agency, as @review (default: @global)")
    .addHelpText("after", formatExamples(["agent ls", ""], ["agent ls @review", ""]))
    .action(async (text: string | undefined) => {
      const { agency } = parseAgencyTarget(cli, text);
      const { client } = await connect(cli);
      const packages = await readAllPages(async (query) => {
        const { packages: items, next } = await client.call("listPackages", { params: { agency }, query });
        return { items, next };
      });
      cli.output.reply({ packages }, () => {
        if (packages.length === 0)
          return `No packages in ${agency}. Create one with \`thinkery agent init <dir>\`, and deploy it with \`thinkery agent deploy <dir>\`.`;
        const rows = packages.map(({ name, version, capabilities, agents, deployedAt, deployedBy }) => [
          name,
          String(version),
          capabilities.join(" ") || "none",
          String(agents.length),
          deployedAt,
          deployedBy,
        ]);
        return cli.output.formatTable(["NAME", "VERSION", "CAPABILITIES", "AGENTS", "DEPLOYED", "BY"], rows);
      });
    });
}
