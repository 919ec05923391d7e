import { fail, type Variables } from "@thinkery/sdk";
import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption, formatAgencyFlag, getAgency } from "../agency-option.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { sanitizeIndented } from "../output.ts";
import { readAgency, toAgency, updateAgency } from "./show.ts";

export function addVars(parent: Command, cli: Cli): void {
  const group = parent
    .command("vars")
    .description("show the variables of an agency, which prompts of its blueprints name as ${{ vars.name }}")
    .argument("[agency]", "agency id, as review or @review (default: global)")
    .addHelpText(
      "after",
      formatExamples(
        ["agency vars review", ""],
        ["agency vars set branch=main depth=3 -a @review", ""],
        ["agency vars unset depth -a @review", ""],
      ),
    )
    .action(async (text: string | undefined) => {
      const { client } = await connect(cli);
      const agency = toAgency(cli, text);
      const { vars } = await readAgency(client, agency);
      cli.output.reply({ vars }, () => formatVars(cli, agency, vars));
    });

  group
    .command("set")
    .description("set variables")
    .argument("<name=value...>", "variables with their values")
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["agency vars set branch=main -a @review", ""]))
    .action(async (assignments: string[], flags: AgencyFlags) => {
      const changes = parseVars(assignments);
      await change(cli, flags, (vars) => ({ ...vars, ...changes }));
    });

  group
    .command("unset")
    .description("remove variables")
    .argument("<name...>", "names of variables")
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["agency vars unset branch -a @review", ""]))
    .action((names: string[], flags: AgencyFlags) =>
      change(cli, flags, (vars, agency) => {
        const missing = names.find((name) => !Object.hasOwn(vars, name));
        if (missing !== undefined) throw fail("not_found", `${agency} has no variable “${missing}”.`);
        return Object.fromEntries(Object.entries(vars).filter(([name]) => !names.includes(name)));
      }),
    );
}

async function change(
  cli: Cli,
  flags: AgencyFlags,
  apply: (vars: Variables, agency: string) => Variables,
): Promise<void> {
  const agency = getAgency(cli, flags);
  const { client } = await connect(cli);
  const current = await readAgency(client, agency);
  const { vars } = await updateAgency(client, agency, { vars: apply(current.vars, agency) });
  cli.output.reply({ vars }, () => formatVars(cli, agency, vars));
}

/** Values stay text: they are inserted into texts. */
export function parseVars(assignments: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    assignments.map((assignment) => {
      const [, name, value = ""] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
      if (name === undefined) throw fail("bad_request", `“${assignment}” is not a variable; write name=value.`);
      return [name, value];
    }),
  );
}

function formatVars(cli: Cli, agency: string, vars: Variables): string {
  const lines = Object.entries(vars).map(([name, value]) => sanitizeIndented(`${name}=${String(value)}`));
  if (lines.length > 0) return lines.join("\n");
  return `No variables in ${agency}. Set one with \`thinkery agency vars set name=value${formatAgencyFlag(cli, agency)}\`.`;
}
