import type { ProviderInfo } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";

export function addProviders(program: Command, cli: Cli): void {
  program
    .command("providers")
    .description("list where models come from, and which of them are ready")
    .addHelpText("after", formatExamples(["providers", ""], ["providers --json", "with their models and addresses"]))
    .action(async () => {
      const { client } = await connect(cli);
      const answer = await client.call("listProviders");
      cli.output.reply(answer, () => {
        const table = cli.output.formatTable(["PROVIDER", "STATUS", "KEY", "MODELS"], answer.providers.map(toRow));
        const troubles = answer.providers
          .filter(({ status }) => status === "error")
          .map(({ name, problem }) => `${name}: ${problem}`);
        return [table, ...troubles, "", `Default: ${answer.default.id} (${answer.default.why})`].join("\n");
      });
    });
}

function toRow({ name, status, apiKeyVariable, models }: ProviderInfo): string[] {
  return [name, status, apiKeyVariable ?? "-", models.length === 0 ? "-" : String(models.length)];
}
