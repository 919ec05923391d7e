import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption } from "../agency-option.ts";
import type { Cli } from "../cli.ts";
import { formatExamples } from "../help.ts";
import { sanitizeIndented } from "../output.ts";
import { getDefaultAgency } from "../target.ts";
import { formatDeploy, formatTarget } from "./format-deploy.ts";

interface DeployFlags extends AgencyFlags {
  dryRun?: boolean;
}

export function addDeploy(group: Command, cli: Cli): void {
  group
    .command("deploy")
    .description("deploy a package as a new version, and grant it what its package.json names")
    .argument("<dir>", "folder of the package")
    .option("--dry-run", "only check it, and print what it would be granted")
    .addOption(createAgencyOption())
    .addHelpText(
      "after",
      formatExamples(
        ["agent deploy hello", ""],
        ["agent deploy hello --dry-run", "what it would be granted"],
        ["agent deploy hello --agency @review", ""],
      ),
    )
    .action(async (dir: string, { agency = getDefaultAgency(cli), dryRun = false }: DeployFlags) => {
      const { deployPackage } = await import("./deploy-package.ts");
      const deploy = await deployPackage(cli, dir, { agency, dryRun });
      const target = formatTarget(deploy.name, agency, getDefaultAgency(cli));
      cli.output.reply(deploy, () => formatDeploy(cli.output, deploy, target));
      if (cli.output.isJson) return;
      for (const warning of deploy.warnings) cli.output.writeMessage(sanitizeIndented(`warning: ${warning}`));
    });
}
