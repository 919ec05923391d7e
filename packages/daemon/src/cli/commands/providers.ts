import type { ProviderInfo } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";

export function addProviders(program: Command, cli: Cli): void {
  program
    .command("providers")
    .description("list model providers and their status")
    .addHelpText("after", formatExamples(["providers", ""], ["providers --json", "include models and URLs"]))
    .action(async () => {
      const { client } = await connect(cli);
      const response = await client.call("listProviders");
      cli.output.reply(response, () => {
        const table = cli.output.formatTable(["PROVIDER", "STATUS", "KEY", "MODELS"], response.providers.map(toRow));
        const errors = response.providers
          .filter(({ status }) => status === "error")
          .map(({ name, problem }) => `${name}: ${problem}`);
        return [table, ...errors, "", `Default: ${response.default.id} (${response.default.why})`].join("\n");
      });
    });
}

function toRow({ name, status, apiKeyVariable, models }: ProviderInfo): string[] {
  return [name, status, apiKeyVariable ?? "-", models.length === 0 ? "-" : String(models.length)];
}
