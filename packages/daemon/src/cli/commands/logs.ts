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
    .description("show the host's logs")
    .option("-f, --follow", "follow new lines until Ctrl+C")
    .option("-n, --lines <count>", "number of lines to show", parseCount, 100)
    .addHelpText("after", formatExamples(["logs", ""], ["logs -f -n 20", "the last 20 lines, then new ones"]))
    .action(async ({ follow, lines }: LogFlags) => {
      if (cli.env.THINKERY_URL) {
        throw fail(
          "bad_request",
          "Logs can only be read on the host's own machine. Run this there, without THINKERY_URL.",
        );
      }
      if (follow && cli.output.isJson) {
        throw fail("bad_request", "--json and --follow cannot be combined.");
      }
      const file = join(locateHome(cli.env).logs, `${hostLogName}.log`);
      const found = await readLastLines(file, lines);
      if (!found && !follow) throw fail("not_found", "No log yet. Start the host with `thinkery start`.");
      cli.output.reply({ lines: found?.lines ?? [] }, () => (found?.lines ?? []).map(sanitizeIndented).join("\n"));
      if (follow) await followFile(file, found?.end ?? 0, (line) => cli.output.writeText(sanitizeIndented(line)));
    });
}

function parseCount(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("Expected a whole number.");
  return Number(text);
}
