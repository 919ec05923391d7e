import { fail } from "@thinkery/sdk";
import { withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { locateHome } from "../../home/home.ts";
import { stopHost } from "../../host/discovery.ts";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect, connectIfRunning, stopTimeoutMs } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { type AgentTarget, parseAgentTarget } from "../target.ts";
import { stopRun } from "../workflow/stop-run.ts";

export function addStop(program: Command, cli: Cli): void {
  program
    .command("stop")
    .description("stop an agent, the run of a workflow, or the host")
    .argument("[target]", "agent, as alice or alice@review, or a run, as @review:pr-1 (default: the host)")
    .option("--all", "stop the host, and with it all agents")
    .addHelpText(
      "after",
      formatExamples(
        ["stop alice", "cancel its turn; it accepts nothing until `start alice`"],
        ["stop --all", "stop the host; turns continue when it is started again"],
      ),
    )
    .action(async (target: string | undefined, { all }: { all?: boolean }) => {
      if (all && target !== undefined) throw fail("bad_request", "Pass a target or --all, not both.");
      if (target?.startsWith("@")) return stopRun(cli, target);
      if (target !== undefined) return stopAgent(cli, parseAgentTarget(cli, target));
      if (cli.env.THINKERY_URL) return stopRemoteHost(cli);
      const outcome = await stopHost(locateHome(cli.env), { timeoutMs: stopTimeoutMs });
      cli.output.reply({ stopped: outcome === "stopped" }, () =>
        outcome === "stopped" ? "Thinkery has stopped." : "Thinkery was not running.",
      );
    });
}

async function stopAgent(cli: Cli, target: AgentTarget): Promise<void> {
  const { client } = await connect(cli);
  await findAgent(client, target);
  const { agency, agent } = target;
  const response = await withRetry((signal) => client.call("stopAgent", { params: { agency, agent }, signal }));
  const queued =
    response.queued === 0 ? "" : ` ${response.queued} queued ${response.queued === 1 ? "turn waits" : "turns wait"}.`;
  cli.output.reply({ agent, agency, ...response }, () => `Stopped ${agent}.${queued}`);
}

async function stopRemoteHost(cli: Cli): Promise<void> {
  const connection = await connectIfRunning(cli);
  if (!connection) throw fail("unavailable", `No host is running at ${cli.env.THINKERY_URL}.`);
  await connection.client.call("shutdown");
  cli.output.reply({ stopped: true }, () => `The host at ${connection.url} is stopping.`);
}
