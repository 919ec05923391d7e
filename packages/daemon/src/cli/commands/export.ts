import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fail } from "@thinkery/sdk";
import { type Command, Option } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { toMarkdown } from "../conversation/markdown.ts";
import { formatExamples } from "../help.ts";
import { parseAgentTarget } from "../target.ts";

interface ExportFlags {
  output?: string;
  format: "json" | "markdown";
}

export function addExport(program: Command, cli: Cli): void {
  program
    .command("export")
    .description("export an agent, or its conversation as Markdown")
    .argument("<target>", "agent, as alice or alice@review")
    .option("-o, --output <file>", "output file (default: stdout)")
    .addOption(
      new Option("--format <format>", "json exports everything, markdown only the conversation")
        .choices(["json", "markdown"])
        .default("json"),
    )
    .addHelpText("after", formatExamples(["export alice -o alice.json", ""], ["export alice --format markdown", ""]))
    .action(async (text: string, { output: file, format }: ExportFlags) => {
      const target = parseAgentTarget(cli, text);
      const { agency, agent } = target;
      const { client } = await connect(cli);
      await findAgent(client, target);
      const exported = await client.call("exportAgent", { params: { agency, agent } });
      const markdown = format === "markdown" ? toMarkdown(exported) : undefined;
      if (file === undefined) {
        if (markdown === undefined) return cli.output.writeJson(exported);
        return cli.output.reply({ agent, agency, markdown }, () => markdown);
      }
      await writeExport(resolve(cli.cwd, file), markdown ?? `${JSON.stringify(exported, null, 2)}\n`);
      cli.output.reply({ agent, agency, file }, () => `Exported ${agent} to ${file}.`);
    });
}

async function writeExport(path: string, text: string): Promise<void> {
  try {
    // Conversations are private.
    await writeFile(path, text, { mode: 0o600 });
  } catch (error) {
    throw fail("bad_request", `Cannot write the export: ${(error as Error).message}.`);
  }
}
