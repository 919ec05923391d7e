import type { DefaultModel, ModelInfo } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";

export function addModels(program: Command, cli: Cli): void {
  program
    .command("models")
    .description("list the models that can be used, with their prices")
    .argument("[provider]", "only those of one provider, ready or not")
    .addHelpText("after", formatExamples(["models", "* marks the default"], ["models anthropic", ""]))
    .action(async (provider: string | undefined) => {
      const { client } = await connect(cli);
      const answer = await client.call("listModels", { query: provider === undefined ? {} : { provider } });
      cli.output.reply(answer, () => {
        if (answer.models.length === 0) return "No models; `thinkery providers` says why.";
        const rows = answer.models.map((model) => toRow(model, answer.default));
        const table = cli.output.formatTable(["", "MODEL", "IN $/M", "OUT $/M", "CONTEXT"], rows);
        return `${table}\n\nDefault: ${answer.default.id} (${answer.default.why})`;
      });
    });
}

function toRow({ id, price, contextTokens }: ModelInfo, fallback: DefaultModel): string[] {
  const formatDollars = (value: number | undefined) =>
    value === undefined ? "unknown" : value === 0 ? "free" : String(value);
  const context = contextTokens === undefined ? "-" : `${Math.round(contextTokens / 1000)}k`;
  return [id === fallback.id ? "*" : "", id, formatDollars(price?.input), formatDollars(price?.output), context];
}
