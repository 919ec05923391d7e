import { type AgencyChange, type AgencyDetails, type AgencySettings, fail } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { findNearest } from "@thinkery/sdk/internal";
import type { Command } from "commander";
import { explainMissingAgency } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { toOneLine } from "../conversation/lines.ts";
import { formatExamples } from "../help.ts";
import type { Output } from "../output.ts";
import { getDefaultAgency, parseAgencyId } from "../target.ts";

const agencyHelp = "agency id, as review or @review (default: global)";

const settingHelp = {
  maxAttempts: "turns that may fail to handle an inbox item before it is given up",
  backoffSeconds: "pause before the second attempt; four times longer before each further one",
  maxTurnsWithoutProgress: "turns in a row in which an agent may only write to others",
  claimSeconds: "how long an agent holds a shared task without a turn",
} satisfies Record<keyof AgencySettings, string>;

const settingNames = Object.keys(settingHelp) as (keyof AgencySettings)[];

export function addShow(group: Command, cli: Cli): void {
  group
    .command("show")
    .description("show an agency with its settings and variables")
    .argument("[agency]", agencyHelp)
    .addHelpText("after", formatExamples(["agency show", ""], ["agency show review", ""]))
    .action(async (text: string | undefined) => {
      const agency = toAgency(cli, text);
      const { client } = await connect(cli);
      const details = await readAgency(client, agency);
      cli.output.reply(details, () => formatAgency(cli.output, details));
    });
}

export function addEdit(group: Command, cli: Cli): void {
  group
    .command("edit")
    .description("change the name or the settings of an agency")
    .argument("<agency>", "agency id, as review or @review")
    .argument("[setting=value...]", `settings: ${settingNames.join(", ")}`)
    .option("--name <text>", "display name")
    .addHelpText(
      "after",
      formatExamples(
        ["agency edit review maxAttempts=6 backoffSeconds=10", ""],
        ['agency edit review --name "Code review"', ""],
      ),
    )
    .action(async (text: string, assignments: string[], { name }: { name?: string }) => {
      const agency = parseAgencyId(text);
      const settings = parseAgencySettings(assignments);
      const hasSettings = Object.keys(settings).length > 0;
      if (name === undefined && !hasSettings)
        throw fail("bad_request", "Nothing to change. Pass --name or setting=value.");
      const body = { ...(name === undefined ? {} : { name }), ...(hasSettings ? { settings } : {}) };
      const { client } = await connect(cli);
      const details = await updateAgency(client, agency, body);
      cli.output.reply(details, () => formatAgency(cli.output, details));
    });
}

export const toAgency = (cli: Cli, text: string | undefined) =>
  text === undefined ? getDefaultAgency(cli) : parseAgencyId(text);

export function readAgency(client: Client, agency: string): Promise<AgencyDetails> {
  return withRetry((signal) => client.call("getAgency", { params: { agency }, signal })).catch(
    async (error: unknown) => {
      throw await explainMissingAgency(client, agency, error);
    },
  );
}

export function updateAgency(client: Client, agency: string, body: AgencyChange): Promise<AgencyDetails> {
  return client.call("updateAgency", { params: { agency }, body }).catch(async (error: unknown) => {
    throw await explainMissingAgency(client, agency, error);
  });
}

/** Parses `maxAttempts=6`. The host checks the ranges. */
export function parseAgencySettings(assignments: readonly string[]): Partial<AgencySettings> {
  const settings: Partial<AgencySettings> = {};
  for (const assignment of assignments) {
    const [, name = "", text = ""] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
    if (name === "") throw fail("bad_request", `“${assignment}” is not a setting; write name=value.`);
    const known = settingNames.find((setting) => setting === name);
    if (!known) {
      const nearest = findNearest(name, settingNames);
      const hint = nearest ? `Did you mean ${nearest}?` : `There are ${settingNames.join(", ")}.`;
      throw fail("bad_request", `Unknown setting “${name}”. ${hint}`, nearest ? { suggestion: nearest } : {});
    }
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isNaN(value)) throw fail("bad_request", `${name} must be a number; got “${text}”.`);
    settings[known] = value;
  }
  return settings;
}

const maxValueChars = 60;

function formatAgency(output: Output, { id, name, owner, createdAt, agents, settings, vars }: AgencyDetails): string {
  const fields = output.formatFields([
    ["agency", id],
    ["name", name],
    ["owner", owner],
    ["created", createdAt],
    ["agents", String(agents)],
  ]);
  const rows = settingNames.map((setting) => [setting, String(settings[setting]), settingHelp[setting]]);
  const variables = Object.entries(vars).map(([key, value]) => [key, toOneLine(String(value), maxValueChars)]);
  return [
    fields,
    output.formatTable(["SETTING", "VALUE", "MEANING"], rows),
    ...(variables.length > 0 ? [output.formatTable(["VARIABLE", "VALUE"], variables)] : []),
  ].join("\n\n");
}
