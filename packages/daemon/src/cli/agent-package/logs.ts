import { type AgentLogLine, type LogLevel, logLevels } from "@thinkery/sdk";
import { type Command, InvalidArgumentError, Option } from "commander";
import { type AgencyFlags, createAgencyOption } from "../agency-option.ts";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { sanitizeIndented } from "../output.ts";
import { followLog, readLog } from "./log-reader.ts";
import { packageTargetHelp, resolvePackageTarget } from "./package-target.ts";

interface LogFlags extends AgencyFlags {
  follow?: boolean;
  level?: LogLevel;
  lines: number;
}

const maxLines = 500;

export function addLogs(group: Command, cli: Cli): void {
  group
    .command("logs")
    .description("show what an agent's code logged, and its errors")
    .argument("<dir|target>", `${packageTargetHelp}, or any agent that runs one`)
    .option("-f, --follow", "follow new lines until Ctrl+C")
    .addOption(new Option("--level <level>", "only lines of this level").choices(logLevels))
    .option("-n, --lines <count>", `number of lines to show, at most ${maxLines}`, parseCount, 100)
    .addOption(createAgencyOption())
    .addHelpText(
      "after",
      formatExamples(["agent logs ./hello -f", ""], ["agent logs hello -n 20 --level error", "its latest errors"]),
    )
    .action(async (text: string, { follow, level, lines, ...flags }: LogFlags) => {
      const target = await resolvePackageTarget(cli, text, flags);
      const { client } = await connect(cli);
      await findAgent(client, target);
      const query = { limit: Math.max(lines, 1), ...(level ? { level } : {}) };
      const { logs, last } = await readLog(client, target, query);
      const shown = lines === 0 ? [] : logs;
      if (!follow) {
        cli.output.reply({ logs: shown, last }, () =>
          shown.length === 0
            ? `${target.agent} has logged nothing${level ? ` of level ${level}` : ""}.`
            : shown.map(formatLogLine).join("\n"),
        );
        return;
      }
      const print = (line: AgentLogLine) =>
        cli.output.isJson ? cli.output.writeJsonLine(line) : cli.output.writeText(formatLogLine(line));
      for (const line of shown) print(line);
      await followLog({ client: () => client, target, after: last, level, onLine: print });
    });
}

function formatLogLine({ at, level, text }: AgentLogLine): string {
  return sanitizeIndented(`${at} ${level.padEnd(5)} ${text}`);
}

function parseCount(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > maxLines)
    throw new InvalidArgumentError(`Expected a whole number up to ${maxLines}.`);
  return Number(text);
}
