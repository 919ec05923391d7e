import { withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption, getAgency } from "../agency-option.ts";
import { explainMissingAgency, findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connect, type Connection } from "../connect.ts";
import { toOneLine } from "../conversation/lines.ts";
import { formatWhen } from "../format-when.ts";
import { formatExamples } from "../help.ts";
import { type AgentTarget, getDefaultAgency, parseTarget } from "../target.ts";

const maxDescriptionChars = 80;

export function addList(group: Command, cli: Cli): void {
  group
    .command("ls")
    .description("list the tools of an agent, or those that were given to the agents of an agency")
    .argument("[target]", "agent, as alice or alice@review, or agency, as @review (default: @global)")
    .addHelpText(
      "after",
      formatExamples(["tool ls", ""], ["tool ls alice", "all tools that it has"], ["tool ls @review", ""]),
    )
    .action(async (text: string | undefined) => {
      const target = parseTarget(cli, text ?? `@${getDefaultAgency(cli)}`);
      const connection = await connect(cli);
      await (target.kind === "agent"
        ? listOfAgent(cli, connection, target)
        : listOfAgency(cli, connection, target.agency));
    });
}

async function listOfAgent(cli: Cli, { client }: Connection, target: AgentTarget): Promise<void> {
  const { agency, agent } = target;
  await findAgent(client, target);
  const { tools } = await withRetry((signal) => client.call("listAgentTools", { params: { agency, agent }, signal }));
  cli.output.reply({ tools }, () => {
    if (tools.length === 0) return `${agent} has no tools.`;
    const rows = tools.map(({ name, source, offered, description }) => [
      name,
      source,
      offered ? "yes" : "on demand",
      toOneLine(description, maxDescriptionChars),
    ]);
    return cli.output.formatTable(["NAME", "SOURCE", "OFFERED", "DESCRIPTION"], rows);
  });
}

async function listOfAgency(cli: Cli, { client }: Connection, agency: string): Promise<void> {
  const { tools } = await withRetry((signal) => client.call("listAgencyTools", { params: { agency }, signal })).catch(
    async (error: unknown) => {
      throw await explainMissingAgency(client, agency, error);
    },
  );
  cli.output.reply({ tools }, () => {
    if (tools.length === 0)
      return `No tools were given to the agents of ${agency}. Add one with \`thinkery tool add\`; an agent's own are in \`thinkery tool ls <agent>\`.`;
    const rows = tools.map(({ name, kind, agent, addedBy, addedAt, description }) => [
      name,
      kind,
      agent ?? "all",
      addedBy,
      formatWhen(addedAt, Date.now()),
      toOneLine(description, maxDescriptionChars),
    ]);
    return cli.output.formatTable(["NAME", "KIND", "AGENT", "BY", "SINCE", "DESCRIPTION"], rows);
  });
}

interface RemoveFlags extends AgencyFlags {
  agent?: string;
  yes?: boolean;
}

export function addRemove(group: Command, cli: Cli): void {
  group
    .command("rm")
    .description("take a tool away that was given to the agents of an agency")
    .argument("<name>", "name of the tool")
    .option("--agent <agent>", "the agent that it was given to (default: all)")
    .option("-y, --yes", "skip confirmation")
    .addOption(createAgencyOption())
    .addHelpText(
      "after",
      formatExamples(["tool rm weather -a @review", ""], ["tool rm webSearch --agent alice --yes", ""]),
    )
    .action(async (name: string, { agent: given, yes, ...flags }: RemoveFlags) => {
      const agency = getAgency(cli, flags);
      const agent = given?.replace(/^@/, "");
      const { client } = await connect(cli);
      if (!yes) await confirm(cli, `Take the tool ${name} away from ${agent ?? `the agents of ${agency}`}?`);
      const query = agent === undefined ? {} : { agent };
      await client.call("deleteAgencyTool", { params: { agency, tool: name }, query }).catch(async (error: unknown) => {
        throw await explainMissingAgency(client, agency, error);
      });
      cli.output.reply({ deleted: name, agency }, () => `Took ${name} away.`);
    });
}
