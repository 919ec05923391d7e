import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { parseAgentTarget } from "../target.ts";

export function addClear(program: Command, cli: Cli): void {
  program
    .command("clear")
    .description("clear an agent's conversation; its event log is kept")
    .argument("<target>", "agent, as alice or alice@review")
    .option("-y, --yes", "skip confirmation")
    .addHelpText("after", formatExamples(["clear alice", ""], ["clear alice@review --yes", ""]))
    .action(async (text: string, { yes }: { yes?: boolean }) => {
      const { agency, agent } = parseAgentTarget(cli, text);
      const { client } = await connect(cli);
      await findAgent(client, { kind: "agent", agency, agent });
      if (!yes) await confirm(cli, `Clear the conversation of ${agent} in ${agency}?`);
      await client.call("clearMessages", { params: { agency, agent } });
      cli.output.reply({ cleared: agent, agency }, () => `Cleared the conversation of ${agent} in ${agency}.`);
    });
}
