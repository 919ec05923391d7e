import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { parseAgencyTarget } from "../target.ts";

export function addBlueprint(program: Command, cli: Cli): void {
  const group = program.command("blueprint").description("list the blueprints that agents are created from");

  group
    .command("ls")
    .description("list the blueprints of an agency")
    .argument("[agency]", "agency, as @review (default: @global)")
    .addHelpText("after", formatExamples(["blueprint ls", ""], ["blueprint ls @review", ""]))
    .action(async (target: string | undefined) => {
      const { agency } = parseAgencyTarget(cli, target);
      const { client } = await connect(cli);
      const { blueprints } = await client.call("listBlueprints", { params: { agency } });
      const rows = blueprints.map(({ name, source, model, description }) => [name, source, model ?? "-", description]);
      cli.output.reply({ blueprints }, () => cli.output.formatTable(["NAME", "SOURCE", "MODEL", "DESCRIPTION"], rows));
    });
}
