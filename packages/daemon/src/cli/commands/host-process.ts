import { errorBody, fail, isThinkeryError } from "@thinkery/sdk";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { hostOptions, type ListenFlags, parsePort } from "../host-options.ts";
import type { LaunchReport } from "../launch.ts";

/** The background process that `start` begins; nobody types this. */
export function addHostProcess(program: Command, cli: Cli): void {
  program
    .command("host-process", { hidden: true })
    .option("--port <number>", "", parsePort)
    .option("--host <address>")
    .addOption(new Option("--last-port <number>").argParser(parsePort))
    .addOption(new Option("--last-host <address>"))
    .action(async (flags: ListenFlags) => {
      cli.ownInterrupts();
      const { runHost, stopOnSignals } = await import("../../host/host.ts");
      const { untilStopped } = await import("../foreground.ts");
      try {
        const options = await hostOptions(cli, flags);
        const host = await runHost(options);
        stopOnSignals(host);
        await report({ ready: true });
        await untilStopped(cli, options.home, host);
      } catch (error) {
        const known = isThinkeryError(error) ? error : fail("internal", `The host did not start: ${String(error)}`);
        await report(errorBody(known));
        throw error;
      }
    });
}

// Tells the command that started us; from then on we are on our own.
function report(outcome: LaunchReport): Promise<void> {
  return new Promise((resolve) => {
    if (!process.send || !process.connected) return resolve();
    process.send(outcome, () => {
      if (process.connected) process.disconnect();
      resolve();
    });
  });
}
