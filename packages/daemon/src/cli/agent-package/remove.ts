import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption } from "../agency-option.ts";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { findPackage } from "./find-package.ts";
import { resolvePackageTarget } from "./package-target.ts";

interface RemoveFlags extends AgencyFlags {
  yes?: boolean;
}

export function addRemove(group: Command, cli: Cli): void {
  group
    .command("rm")
    .description("delete a package that no agent uses, with all its versions")
    .argument("<name>", "name of the package, as hello or hello@review")
    .option("-y, --yes", "skip confirmation")
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["agent rm hello", ""], ["agent rm hello@review --yes", ""]))
    .action(async (text: string, { yes, ...flags }: RemoveFlags) => {
      const target = await resolvePackageTarget(cli, text, flags);
      const { agency, agent: name } = target;
      const { client } = await connect(cli);
      await findPackage(client, target);
      if (!yes) await confirm(cli, `Delete the package ${name} in ${agency} and all its versions?`);
      await client.call("deletePackage", { params: { agency, package: name } });
      cli.output.reply({ deleted: name, agency }, () => `Deleted ${name} in ${agency}.`);
    });
}
