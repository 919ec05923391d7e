import type { DefaultModel, ModelInfo } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";

export function addModels(program: Command, cli: Cli): void {
  program
    .command("models")
    .description("list available models and their prices")
    .argument("[provider]", "only models of this provider, even if it is not configured")
    .addHelpText("after", formatExamples(["models", "* marks the default"], ["models anthropic", ""]))
    .action(async (provider: string | undefined) => {
      const { client } = await connect(cli);
      const response = await client.call("listModels", { query: provider === undefined ? {} : { provider } });
      cli.output.reply(response, () => {
        if (response.models.length === 0) return "No models available. See `thinkery providers` for the reason.";
        const rows = response.models.map((model) => toRow(model, response.default));
        const table = cli.output.formatTable(["", "MODEL", "IN $/M", "OUT $/M", "CONTEXT"], rows);
        return `${table}\n\nDefault: ${response.default.id} (${response.default.why})`;
      });
    });
}

function toRow({ id, price, contextTokens }: ModelInfo, fallback: DefaultModel): string[] {
  const formatDollars = (value: number | undefined) =>
    value === undefined ? "unknown" : value === 0 ? "free" : String(value);
  const context = contextTokens === undefined ? "-" : `${Math.round(contextTokens / 1000)}k`;
  return [id === fallback.id ? "*" : "", id, formatDollars(price?.input), formatDollars(price?.output), context];
}
