import { fail } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { parseTarget } from "../target.ts";

export function addRm(program: Command, cli: Cli): void {
  program
    .command("rm")
    .description("delete an agent and its data")
    .argument("<target>", "agent, as alice or alice@review")
    .option("-y, --yes", "skip confirmation")
    .addHelpText("after", formatExamples(["rm alice", ""], ["rm alice@review --yes", ""]))
    .action(async (text: string, { yes }: { yes?: boolean }) => {
      const target = parseTarget(cli, text);
      if (target.kind === "agency") {
        const command = `thinkery agency rm ${target.agency}`;
        throw fail("bad_request", `“${text}” is an agency. Delete it and everything in it with \`${command}\`.`);
      }
      const { agent, agency } = target;
      const { client } = await connect(cli);
      if (!yes) await confirm(cli, `Delete ${agent} in ${agency} and all its data?`);
      await client.call("deleteAgent", { params: { agency, agent } });
      cli.output.reply({ deleted: agent, agency }, () => `Deleted ${agent} in ${agency}.`);
    });
}
