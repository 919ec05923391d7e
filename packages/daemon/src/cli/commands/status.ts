import type { Health } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { type Connection, connectIfRunning } from "../connect.ts";
import { formatDuration } from "../duration.ts";
import { exitCodes } from "../exit.ts";
import { formatPath } from "../format-path.ts";
import { formatExamples } from "../help.ts";
import { formatSlots } from "../slots.ts";

export function addStatus(program: Command, cli: Cli): void {
  program
    .command("status")
    .description("show whether the host is running, and its health")
    .addHelpText("after", formatExamples(["status", ""], ["status --json", "for scripts"]))
    .action(async () => {
      const connection = await connectIfRunning(cli);
      if (!connection) {
        cli.output.reply({ running: false }, () => "Thinkery is not running. Start it with `thinkery start`.");
        return cli.setExitCode(exitCodes.noHost);
      }
      const { status: _, ...health } = await connection.client.call("health");
      const { url, worker } = connection;
      const file = worker ? { workerFile: worker } : {};
      cli.output.reply({ running: true, url, ...health, ...file }, () => describeHealth(cli, connection, health));
    });
}

function describeHealth(cli: Cli, { url, worker }: Connection, health: Omit<Health, "status">): string {
  const { models } = health;
  const [slots = "", ...eachSlot] = formatSlots(health);
  const restarts = health.restarts
    ? ` (main restarted ${health.restarts === 1 ? "once" : `${health.restarts} times`})`
    : "";
  return cli.output.formatFields([
    ["address", url],
    ["version", health.version],
    ["worker", health.worker && (worker ? `${formatPath(worker)} (${health.worker})` : health.worker)],
    ["pid", health.pid?.toString()],
    ["uptime", health.uptime === undefined ? undefined : formatDuration(health.uptime) + restarts],
    ["agencies", health.agencies?.toString()],
    ["agents", health.agents?.toString()],
    ["sandboxes", slots],
    ...eachSlot.map((line): [string, string] => ["", line]),
    ["providers", models?.configured.join(", ") || "none (set a key such as ANTHROPIC_API_KEY)"],
    ["model", models && `${models.default.id} (${models.default.why})`],
  ]);
}
