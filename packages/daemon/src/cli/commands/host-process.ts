import { toErrorBody, fail, isThinkeryError } from "@thinkery/sdk";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { exitCodes } from "../exit.ts";
import { type HostFlags, resolveHostOptions, parsePort } from "../host-options.ts";
import type { LaunchReport } from "../launch.ts";

interface ProcessFlags extends HostFlags {
  tied?: boolean;
}

/** Internal: the background process started by `thinkery start`, or by a test with --tied. */
export function addHostProcess(program: Command, cli: Cli): void {
  program
    .command("host-process", { hidden: true })
    .option("--port <number>", "", parsePort)
    .option("--host <address>")
    .option("--worker <file>")
    .option("--no-worker")
    .option("--watch")
    .addOption(new Option("--last-port <number>").argParser(parsePort))
    .addOption(new Option("--last-host <address>"))
    .addOption(new Option("--last-worker <file>"))
    .addOption(new Option("--tied"))
    .action(async ({ tied = false, ...flags }: ProcessFlags) => {
      cli.takeOverInterrupts();
      // The parent is gone, perhaps killed. Exiting is safe: confirmed writes are on disk and no child outlives us.
      if (tied) process.once("disconnect", () => process.exit(exitCodes.failed)).channel?.unref();
      const { runHost, stopOnSignals } = await import("../../host/host.ts");
      const { waitUntilStopped } = await import("../foreground.ts");
      try {
        const options = await resolveHostOptions(cli, flags);
        const host = await runHost(options);
        stopOnSignals(host);
        await sendReport({ ready: true }, tied);
        await waitUntilStopped(cli, options.home, host);
      } catch (error) {
        const known = isThinkeryError(error) ? error : fail("internal", `The host did not start: ${String(error)}`);
        await sendReport(toErrorBody(known), tied);
        throw error;
      }
    });
}

// Reports to the parent, then detaches from it unless tied.
function sendReport(report: LaunchReport, tied: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (!process.send || !process.connected) return resolve();
    process.send(report, () => {
      if (!tied && process.connected) process.disconnect();
      resolve();
    });
  });
}
