import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import { type Command, InvalidArgumentError } from "commander";
import { locateHome } from "../../home/home.ts";
import { hostLogName } from "../../host/log.ts";
import type { Cli } from "../cli.ts";
import { formatExamples } from "../help.ts";
import { sanitizeIndented } from "../output.ts";
import { followFile, readLastLines } from "../tail.ts";

interface LogFlags {
  follow?: boolean;
  lines: number;
}

export function addLogs(program: Command, cli: Cli): void {
  program
    .command("logs")
    .description("show what the host's processes said")
    .option("-f, --follow", "go on with what comes, until Ctrl+C")
    .option("-n, --lines <count>", "how many lines back", parseCount, 100)
    .addHelpText("after", formatExamples(["logs", ""], ["logs -f -n 20", "the last 20 lines and what comes"]))
    .action(async ({ follow, lines }: LogFlags) => {
      if (cli.env.THINKERY_URL) {
        throw fail("bad_request", "Logs are only read on the host's own machine; unset THINKERY_URL there.");
      }
      if (follow && cli.output.isJson) {
        throw fail("bad_request", "--json prints one value and --follow never ends; give one of them.");
      }
      const file = join(locateHome(cli.env).logs, `${hostLogName}.log`);
      const found = await readLastLines(file, lines);
      if (!found && !follow) throw fail("not_found", "There is no log yet; start the host with `thinkery start`.");
      cli.output.reply({ lines: found?.lines ?? [] }, () => (found?.lines ?? []).map(sanitizeIndented).join("\n"));
      if (follow) await followFile(file, found?.end ?? 0, (line) => cli.output.writeText(sanitizeIndented(line)));
    });
}

function parseCount(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("Give a whole number.");
  return Number(text);
}
