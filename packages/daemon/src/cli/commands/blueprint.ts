import { fail, isThinkeryError } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { findNearest } from "@thinkery/sdk/internal";
import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption, getAgency } from "../agency-option.ts";
import { explainMissingAgency } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connect } from "../connect.ts";
import { readLocalFile } from "../files/read-local.ts";
import { formatExamples } from "../help.ts";
import { sanitize } from "../output.ts";
import { parseAgencyTarget } from "../target.ts";

const nameHelp = "name of the blueprint";

export function addBlueprint(program: Command, cli: Cli): void {
  const group = program
    .command("blueprint")
    .description("list, show, store and delete the blueprints that agents are created from")
    .addHelpText(
      "after",
      formatExamples(
        ["blueprint ls @review", ""],
        ["blueprint show think > reviewer.yaml", ""],
        ["blueprint put reviewer.yaml -a @review", ""],
      ),
    );

  group
    .command("ls")
    .description("list the blueprints of an agency")
    .argument("[agency]", "agency, as @review (default: @global)")
    .addHelpText("after", formatExamples(["blueprint ls", ""], ["blueprint ls @review", ""]))
    .action(async (target: string | undefined) => {
      const { agency } = parseAgencyTarget(cli, target);
      const { client } = await connect(cli);
      const { blueprints } = await listBlueprints(client, agency);
      const rows = blueprints.map(({ name, source, model, description }) => [name, source, model ?? "-", description]);
      cli.output.reply({ blueprints }, () => cli.output.formatTable(["NAME", "SOURCE", "MODEL", "DESCRIPTION"], rows));
    });

  group
    .command("show")
    .description("print a blueprint as YAML")
    .argument("<name>", nameHelp)
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["blueprint show think", ""], ["blueprint show reviewer -a @review", ""]))
    .action(async (name: string, flags: AgencyFlags) => {
      const agency = getAgency(cli, flags);
      const { client } = await connect(cli);
      const blueprint = await withRetry((signal) =>
        client.call("getBlueprint", { params: { agency, name }, signal }),
      ).catch((error: unknown) => rethrow(client, agency, name, error));
      const { formatBlueprint } = await import("../../blueprint/parse-blueprint.ts");
      cli.output.reply(blueprint, () => sanitize(formatBlueprint(blueprint)).trimEnd());
    });

  group
    .command("put")
    .description("create or replace a blueprint; every problem is reported with its line")
    .argument("<file>", "YAML or JSON file; - reads stdin")
    .addOption(createAgencyOption())
    .addHelpText(
      "after",
      formatExamples(["blueprint put reviewer.yaml", ""], ["blueprint put reviewer.json -a @review", ""]),
    )
    .action(async (file: string, flags: AgencyFlags) => {
      const text = Buffer.from(await readLocalFile(cli, file)).toString("utf8");
      const { parseBlueprint } = await import("../../blueprint/parse-blueprint.ts");
      const body = parseBlueprint(file === "-" ? "stdin" : file, text);
      const agency = getAgency(cli, flags);
      const { client } = await connect(cli);
      const stored = await client.call("putBlueprint", { params: { agency }, body }).catch(async (error: unknown) => {
        throw await explainMissingAgency(client, agency, error);
      });
      for (const warning of stored.warnings ?? []) cli.output.writeNote(`Warning: ${warning}`);
      cli.output.reply(
        stored,
        () => `Stored blueprint ${stored.name} in ${agency}. Agents that have it use it from their next turn on.`,
      );
    });

  group
    .command("rm")
    .description("delete a stored blueprint; one of the same name that comes with the host takes its place again")
    .argument("<name>", nameHelp)
    .option("-y, --yes", "skip confirmation")
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["blueprint rm reviewer -a @review", ""]))
    .action(async (name: string, { yes, ...flags }: AgencyFlags & { yes?: boolean }) => {
      const agency = getAgency(cli, flags);
      const { client } = await connect(cli);
      if (!yes) await confirm(cli, `Delete the blueprint ${name} of ${agency}?`);
      await client
        .call("deleteBlueprint", { params: { agency, name } })
        .catch((error: unknown) => rethrow(client, agency, name, error));
      cli.output.reply({ deleted: name, agency }, () => `Deleted blueprint ${name} of ${agency}.`);
    });
}

function listBlueprints(client: Client, agency: string) {
  return withRetry((signal) => client.call("listBlueprints", { params: { agency }, signal })).catch(
    async (error: unknown) => {
      throw await explainMissingAgency(client, agency, error);
    },
  );
}

/** Suggests the closest blueprint if there is none of this name. */
async function rethrow(client: Client, agency: string, name: string, error: unknown): Promise<never> {
  if (!isThinkeryError(error) || error.code !== "not_found") throw error;
  const { blueprints } = await listBlueprints(client, agency);
  const nearest = findNearest(
    name,
    blueprints.map((one) => one.name).filter((one) => one !== name),
  );
  if (!nearest || error.message.includes("Did you mean")) throw error;
  throw fail("not_found", `${error.message} Did you mean ${nearest}?`, { suggestion: nearest });
}
