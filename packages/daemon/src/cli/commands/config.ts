import type { Command } from "commander";
import { locateHome } from "../../home/home.ts";
import type { Cli } from "../cli.ts";
import { formatPath } from "../format-path.ts";
import { formatExamples } from "../help.ts";

export function addConfig(program: Command, cli: Cli): void {
  const group = program.command("config").description("show the configuration and its schema");

  group
    .command("schema")
    .description("print the JSON schema of config.jsonc")
    .addHelpText("after", formatExamples(["config schema > thinkery.schema.json", "for your editor, via “$schema”"]))
    .action(async () => {
      const [{ configSchema }, { z }] = await Promise.all([import("../../config/schema.ts"), import("zod")]);
      cli.output.writeText(JSON.stringify(z.toJSONSchema(configSchema, { io: "input" }), null, 2));
    });

  group
    .command("show")
    .description("print the effective configuration and its files")
    .addHelpText("after", formatExamples(["config show", ""]))
    .action(async () => {
      const [{ loadConfig }, { listProviders }] = await Promise.all([
        import("../../config/load.ts"),
        import("../../config/providers.ts"),
      ]);
      const home = locateHome(cli.env);
      const { config, files } = await loadConfig(home.path, cli.cwd);
      const providers = listProviders(cli.env);
      cli.output.reply({ config, files, home: home.path, providers }, () =>
        cli.output.formatFields([
          ["data folder", formatPath(home.path)],
          ["files", files.map((file) => formatPath(file)).join(", ") || "none (using defaults)"],
          ["port", config.port?.toString() ?? "5099, or the next free port"],
          ["host", config.host ?? "127.0.0.1"],
          ["worker", config.worker ?? "built-in"],
          ["sandboxSlots", config.sandboxSlots.toString()],
          ["agentSlots", config.agentSlots.toString()],
          ["sandbox", `${config.sandbox.timeoutSeconds} s and ${config.sandbox.memoryMb} MB per run`],
          [
            "linux",
            `${config.linux.timeoutSeconds} s and ${config.linux.memoryMb} MB per command, ${config.linux.network ? "with network" : "no network"}`,
          ],
          ["allowedHosts", config.allowedHosts.join(", ") || "only this machine's names"],
          ["allowedOrigins", config.allowedOrigins.join(", ") || "only the host's own page"],
          ["toolOrigins", config.toolOrigins.join(", ") || "only public origins"],
          ["providers", providers.join(", ") || "none"],
        ]),
      );
    });
}
