import type { NewAgent } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { parseAgentTarget } from "../target.ts";

interface NewFlags {
  model?: string;
  backend?: string;
  system?: string;
  blueprint?: string;
}

export function addNew(program: Command, cli: Cli): void {
  program
    .command("new")
    .description("create an agent")
    .argument("<name>", "agent name, with its agency unless global: alice@review")
    .option("-m, --model <id>", "model, as provider:model")
    .option("-b, --backend <driver>", "driver that runs its turns (default: its blueprint's driver)")
    .option("--system <text>", "additional system prompt")
    .option("--blueprint <name>", "blueprint to create it from (default: think)")
    .addHelpText(
      "after",
      formatExamples(["new alice", ""], ['new bob@review -m anthropic:claude-sonnet-4-5 --system "Be brief."', ""]),
    )
    .action(async (name: string, flags: NewFlags) => {
      const { agent, agency } = parseAgentTarget(cli, name);
      const body: NewAgent = { name: agent, ...flags };
      const { client } = await connect(cli);
      const created = await client.call("createAgent", { params: { agency }, body });
      cli.output.reply(created, () => `Created ${created.name} in ${created.agency}.`);
    });
}
