import { fail } from "@thinkery/sdk";
import { withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { locateHome } from "../../home/home.ts";
import { findHost, stopHost } from "../../host/discovery.ts";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect, connectAsOwner, isOtherVersion, stopTimeoutMs } from "../connect.ts";
import { greet } from "../greeting.ts";
import { formatExamples } from "../help.ts";
import {
  type HostFlags,
  resolveHostOptions,
  toLastFlags,
  noteDifference,
  parsePort,
  resolveReplacementOptions,
} from "../host-options.ts";
import { launchHost } from "../launch.ts";
import { type AgentTarget, parseAgentTarget } from "../target.ts";
import { resumeRun } from "../workflow/stop-run.ts";

interface StartFlags extends HostFlags {
  foreground?: boolean;
}

export function addStart(program: Command, cli: Cli): void {
  program
    .command("start")
    .description("start the host in the background, or again a stopped agent or run of a workflow")
    .argument("[target]", "stopped agent, as alice or alice@review, or run, as @review:pr-1 (default: start the host)")
    .option("--port <number>", "listen on this port (default: 5099, or the next free port)", parsePort)
    .option("--host <address>", "listen on this address (default: 127.0.0.1)")
    .option("--worker <file>", "run a custom Worker (a .ts or .js file) instead of the built-in one")
    .option("--no-worker", "run the built-in Worker, overriding the configuration")
    .option("--watch", "rebuild the Worker when its files change")
    .option("--foreground", "run in the foreground; stop with Ctrl+C")
    .addHelpText(
      "after",
      formatExamples(
        ["start", "start the host and print a login link"],
        ["start alice", "start a stopped agent again"],
        ["start --port 6000 --foreground", "run in the foreground"],
        ["start --worker src/worker.ts --watch", "with custom agents"],
      ),
    )
    .action(async (target: string | undefined, { foreground, ...flags }: StartFlags) => {
      if (target !== undefined) {
        refuseHostFlags({ foreground, ...flags });
        return target.startsWith("@") ? resumeRun(cli, target) : startAgent(cli, parseAgentTarget(cli, target));
      }
      refuseRemoteHost(cli, "start");
      // Validated even if a host is already running and keeps its options.
      if (flags.host !== undefined || flags.worker !== undefined) await resolveHostOptions(cli, flags);
      if (!foreground) return startBackground(cli, flags);
      const { runForeground } = await import("../foreground.ts");
      return runForeground(cli, flags);
    });
}

export function addRestart(program: Command, cli: Cli): void {
  program
    .command("restart")
    .description("restart the host in the background at the same address")
    .option("--port <number>", "listen on this port", parsePort)
    .option("--host <address>", "listen on this address")
    .option("--worker <file>", "run a custom Worker (a .ts or .js file)")
    .option("--no-worker", "run the built-in Worker again")
    .option("--watch", "rebuild the Worker when its files change")
    .addHelpText(
      "after",
      formatExamples(
        ["restart", "apply a changed configuration or Worker"],
        ["restart --no-worker", "back to the built-in Worker"],
      ),
    )
    .action(async (flags: HostFlags) => {
      refuseRemoteHost(cli, "restart");
      const home = locateHome(cli.env);
      const found = await findHost(home);
      const last = found ? toLastFlags(found) : {};
      // Validated first: a running host is not stopped if the new one cannot start.
      await resolveReplacementOptions(cli, { ...last, ...flags });
      if (found) await stopHost(home, { timeoutMs: stopTimeoutMs });
      await startBackground(cli, { ...last, ...flags });
    });
}

function refuseHostFlags({ worker, ...flags }: StartFlags): void {
  // `--no-worker` is the default of its flag and cannot be told apart.
  const given = Object.entries(flags).find(([, value]) => value !== undefined);
  if (given || typeof worker === "string") {
    throw fail(
      "bad_request",
      `--${given?.[0] ?? "worker"} is an option of the host. To start an agent, pass only its name.`,
    );
  }
}

async function startAgent(cli: Cli, target: AgentTarget): Promise<void> {
  const { client } = await connect(cli);
  await findAgent(client, target);
  const { agency, agent } = target;
  const response = await withRetry((signal) => client.call("startAgent", { params: { agency, agent }, signal }));
  cli.output.reply({ agent, agency, ...response }, () => `Started ${agent}.`);
}

async function startBackground(cli: Cli, flags: HostFlags): Promise<void> {
  const home = locateHome(cli.env);
  let found = await findHost(home);
  if (found && isOtherVersion(cli, found)) {
    flags = { ...toLastFlags(found), ...flags };
    await resolveReplacementOptions(cli, flags);
    cli.output.writeMessage(`Restarting the host: it is version ${found.version}, this CLI is ${cli.version}.`);
    await stopHost(home, { timeoutMs: stopTimeoutMs });
    found = undefined;
  }
  if (found) noteDifference(cli, flags, found);
  const host = found ?? (await launchHost(cli, flags, { adoptToken: true }));
  await greet(cli, await connectAsOwner(cli, host), {
    isStarted: !found,
    pid: host.pid,
    version: host.version,
    homePath: home.path,
    stopHint: "thinkery stop",
  });
}

function refuseRemoteHost(cli: Cli, verb: string): void {
  if (!cli.env.THINKERY_URL) return;
  throw fail("bad_request", `THINKERY_URL points to a remote host. Unset it to ${verb} the one on this machine.`);
}
