import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { formatExamples } from "../help.ts";
import { sanitizeIndented } from "../output.ts";
import type { CreatedPackage } from "./create-package.ts";

interface InitFlags {
  template: string;
  force?: boolean;
}

/** The examples in `examples/agents`. */
const templateNames = ["basic", "chat", "counter", "knowledge"];

export function addInit(group: Command, cli: Cli): void {
  group
    .command("init")
    .description("create the package of an agent, with a test")
    .argument("<dir>", "new or empty folder; the agent gets its name")
    .addOption(new Option("--template <name>", "what to begin with").choices(templateNames).default("basic"))
    .option("--force", "add the files that are missing to a folder that is not empty")
    .addHelpText(
      "after",
      formatExamples(
        ["agent init hello", "an agent that answers with a model"],
        ["agent init notes --template knowledge", "with tools for other agents"],
      ),
    )
    .action(async (dir: string, { template, force = false }: InitFlags) => {
      const { createPackage } = await import("./create-package.ts");
      const created = await createPackage({ cwd: cli.cwd, dir, template, force, program: cli.entry });
      cli.output.reply({ folder: dir, template, ...created }, () => formatCreated(dir, template, created));
    });
}

function formatCreated(dir: string, template: string, { name, files, kept }: CreatedPackage): string {
  return [
    `Created the agent ${name} in ${dir} from the template ${template}:`,
    ...files.map((file) => `  ${file}`),
    ...(kept.length > 0 ? [`Left as they were: ${kept.join(", ")}`] : []),
    "",
    "Next:",
    `  thinkery agent dev ${/^[\w@./:-]+$/.test(dir) ? dir : `'${dir.replaceAll("'", "'\\''")}'`}`,
    `  thinkery chat ${name}`,
  ]
    .map(sanitizeIndented)
    .join("\n");
}
