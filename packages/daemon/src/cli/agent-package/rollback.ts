import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption } from "../agency-option.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { parsePositiveInteger } from "../files/parse-positive-integer.ts";
import { formatExamples } from "../help.ts";
import { findPackage } from "./find-package.ts";
import { packageTargetHelp, resolvePackageTarget } from "./package-target.ts";

export function addRollback(group: Command, cli: Cli): void {
  group
    .command("rollback")
    .description("make an earlier version the current one; state and settings stay as they are")
    .argument("<dir|name>", packageTargetHelp)
    .argument("[version]", "version (default: the one before the current one)", parsePositiveInteger)
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["agent rollback ./hello", ""], ["agent rollback hello 3", ""]))
    .action(async (text: string, version: number | undefined, flags: AgencyFlags) => {
      const target = await resolvePackageTarget(cli, text, flags);
      const { client } = await connect(cli);
      const before = await findPackage(client, target);
      const params = { agency: target.agency, package: target.agent };
      const body = version === undefined ? {} : { version };
      const found = await client.call("rollbackPackage", { params, body });
      cli.output.reply(found, () =>
        found.version === before.version
          ? `${found.name} already runs version ${found.version}.`
          : `${found.name} runs version ${found.version} again; it ran version ${before.version}. Granted: ${found.capabilities.join(", ") || "nothing"}.`,
      );
    });
}
