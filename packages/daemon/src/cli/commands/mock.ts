import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fail } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";

export function addMock(program: Command, cli: Cli): void {
  const group = program.command("mock").description("list, check and run scripts of scripted models");

  group
    .command("ls")
    .description("list the host's scripts")
    .addHelpText("after", formatExamples(["mock ls", ""]))
    .action(async () => {
      const { client } = await connect(cli);
      const { models } = await client.call("listModels", { query: { provider: "scripted" } });
      const scripts = models.map(({ id }) => id.replace(/^scripted:/, ""));
      cli.output.reply({ scripts }, () => scripts.join("\n"));
    });

  group
    .command("check")
    .description("validate a script and report errors by line")
    .argument("<file>", "YAML file")
    .addHelpText("after", formatExamples(["mock check scripts/demo.yaml", ""]))
    .action(async (file: string) => {
      const { parseScript } = await import("../../scripts/parse.ts");
      const script = parseScript(file, await readText(resolve(cli.cwd, file), file));
      const exchanges = script.exchanges.length;
      const steps = script.exchanges.reduce((sum, exchange) => sum + exchange.steps.length, 0);
      cli.output.reply(
        { file, valid: true, exchanges, steps },
        () => `${file} is valid: ${formatCount(exchanges, "exchange")}, ${formatCount(steps, "step")}.`,
      );
    });

  group
    .command("play")
    .description("send messages to a script and print the conversation")
    .argument("<script>", "script name or YAML file")
    .argument("[message...]", "messages, one turn each (default: Hello)", [])
    .addHelpText(
      "after",
      formatExamples(["mock play tour hello models", "two turns"], ["mock play scripts/demo.yaml", "sends Hello"]),
    )
    .action(async (script: string, messages: string[]) => {
      const { playScript } = await import("../play.ts");
      await playScript(cli, script, messages.length > 0 ? messages : ["Hello"]);
    });
}

async function readText(path: string, file: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw fail("bad_request", `Cannot read ${file} (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
