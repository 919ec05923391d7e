import type { AgentSettings } from "@thinkery/sdk";
import { withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { describeSetting, parseSettings } from "../setting-arguments.ts";
import { parseAgentTarget } from "../target.ts";

export function addSettings(program: Command, cli: Cli): void {
  program
    .command("settings")
    .description("show and change the settings that an agent's code declares")
    .argument("<target>", "agent, as alice or alice@review")
    .argument("[name=value...]", "settings to change; they apply from the next message on")
    .option("--unset <name>", "use the default of a setting; may be repeated", collect)
    .addHelpText(
      "after",
      formatExamples(
        ["settings hello", ""],
        ["settings hello temperature=0.2 maxSteps=10", ""],
        ["settings hello --unset temperature", ""],
      ),
    )
    .action(async (text: string, assignments: string[], { unset = [] }: { unset?: string[] }) => {
      const target = parseAgentTarget(cli, text);
      const { agency, agent } = target;
      const { client } = await connect(cli);
      await findAgent(client, target);
      const params = { agency, agent };
      const current = await withRetry((signal) => client.call("getSettings", { params, signal }));
      const changes = parseSettings(current.schema, assignments, unset);
      const isChanged = Object.keys(changes).length > 0;
      const settings = isChanged ? await client.call("putSettings", { params, body: { settings: changes } }) : current;
      cli.output.reply(settings, () => formatSettings(cli, settings, agent));
      if (isChanged && !cli.output.isJson) cli.output.writeMessage("They apply from the next message on.");
    });
}

function collect(name: string, names: string[] = []): string[] {
  return [...names, name];
}

const maxValueChars = 60;

function formatSettings(cli: Cli, { settings, set, schema }: AgentSettings, agent: string): string {
  const entries = Object.entries(schema);
  if (entries.length === 0) return `${agent} has no settings: its code declares none.`;
  const rows = entries.map(([name, setting]) => [
    name,
    shorten(String(settings[name] ?? "-")),
    Object.hasOwn(set, name) ? "set" : "default",
    describeSetting(setting),
    setting.label ?? "",
  ]);
  return cli.output.formatTable(["NAME", "VALUE", "FROM", "EXPECTS", "LABEL"], rows);
}

function shorten(text: string): string {
  return text.length > maxValueChars ? `${text.slice(0, maxValueChars - 1)}…` : text;
}
