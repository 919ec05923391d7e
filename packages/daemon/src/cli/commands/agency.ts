import type { Command } from "commander";
import { addAddMember, addMembers, addRemoveMember } from "../agency/members.ts";
import { addEdit, addShow } from "../agency/show.ts";
import { addVars } from "../agency/vars.ts";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { listAgencies } from "../lists.ts";
import { parseAgencyId } from "../target.ts";

export function addAgency(program: Command, cli: Cli): void {
  const group = program
    .command("agency")
    .description("list, create, change and delete agencies, and say who may use them");

  group
    .command("ls")
    .description("list your agencies")
    .addHelpText("after", formatExamples(["agency ls", ""]))
    .action(async () => {
      const { client } = await connect(cli);
      const agencies = await listAgencies(client);
      const rows = agencies.map((agency) => [agency.id, agency.name, agency.owner, agency.createdAt]);
      cli.output.reply({ agencies }, () => cli.output.formatTable(["ID", "NAME", "OWNER", "CREATED"], rows));
    });

  group
    .command("new")
    .description("create an agency")
    .argument("[id]", "agency id, such as review or review:pr-123 (default: generated)")
    .option("--name <text>", "display name")
    .addHelpText(
      "after",
      formatExamples(["agency new review", ""], ['agency new review:pr-123 --name "Pull request 123"', ""]),
    )
    .action(async (id: string | undefined, { name }: { name?: string }) => {
      const body = { ...(id === undefined ? {} : { id: parseAgencyId(id) }), ...(name === undefined ? {} : { name }) };
      const { client } = await connect(cli);
      const created = await client.call("createAgency", { body });
      cli.output.reply(created, () => `Created agency ${created.id}.`);
    });

  group
    .command("rm")
    .description("delete an agency and everything in it")
    .argument("<id>", "agency id")
    .option("-y, --yes", "skip confirmation")
    .addHelpText("after", formatExamples(["agency rm review:pr-123", ""]))
    .action(async (text: string, { yes }: { yes?: boolean }) => {
      const agency = parseAgencyId(text);
      const { client } = await connect(cli);
      if (!yes) await confirm(cli, `Delete agency ${agency} and all its agents?`);
      await client.call("deleteAgency", { params: { agency } });
      cli.output.reply({ deleted: agency }, () => `Deleted agency ${agency}.`);
    });

  for (const add of [addShow, addEdit, addMembers, addAddMember, addRemoveMember, addVars]) add(group, cli);
}
