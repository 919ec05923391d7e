import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fail } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";

export function addMock(program: Command, cli: Cli): void {
  const group = program.command("mock").description("work with the scripts of scripted models");

  group
    .command("ls")
    .description("list the scripts that the host finds")
    .addHelpText("after", formatExamples(["mock ls", ""]))
    .action(async () => {
      const { client } = await connect(cli);
      const { models } = await client.call("listModels", { query: { provider: "scripted" } });
      const scripts = models.map(({ id }) => id.replace(/^scripted:/, ""));
      cli.output.reply({ scripts }, () => scripts.join("\n"));
    });

  group
    .command("check")
    .description("check a script, and say which lines are wrong")
    .argument("<file>", "a YAML file")
    .addHelpText("after", formatExamples(["mock check scripts/demo.yaml", ""]))
    .action(async (file: string) => {
      const { parseScript } = await import("../../scripts/parse.ts");
      const script = parseScript(file, await readText(resolve(cli.cwd, file), file));
      const exchanges = script.exchanges.length;
      const steps = script.exchanges.reduce((sum, exchange) => sum + exchange.steps.length, 0);
      cli.output.reply(
        { file, valid: true, exchanges, steps },
        () => `${file} is a script of ${exchanges} exchanges with ${steps} steps.`,
      );
    });

  group
    .command("play")
    .description("say something to a script, and show all that comes of it")
    .argument("<script>", "the name of a script, or a YAML file")
    .argument("[message...]", "each is a turn of its own", [])
    .addHelpText(
      "after",
      formatExamples(["mock play tour hello models", "two turns"], ["mock play scripts/demo.yaml", "with a greeting"]),
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
    throw fail("bad_request", `${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
