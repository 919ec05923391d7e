import { extname } from "node:path";
import { type AgencyTool, fail, type NewAgencyTool } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption, getAgency } from "../agency-option.ts";
import { explainMissingAgency } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { readJsonArgument } from "../json-argument.ts";

const moduleExtensions = [".ts", ".mts", ".js", ".mjs"];

const isModuleFile = (text: string) => moduleExtensions.includes(extname(text));

/** Loads what bundles modules only when there is one. */
const readTools = async (cli: Cli, file: string) => (await import("./module-tools.ts")).readModuleTools(cli, file);

type NewTool = NewAgencyTool["tool"];

interface ToolFlags extends AgencyFlags {
  agent?: string;
}

interface AddFlags extends ToolFlags {
  url?: string;
  name?: string;
  description?: string;
  parameters?: string;
}

const agentHelp = "the only agent that gets it (default: all agents of the agency)";

export function addAdd(group: Command, cli: Cli): void {
  group
    .command("add")
    .description("give the agents of an agency a tool: a module that runs in a sandbox, or a webhook")
    .argument("<module|name>", `${moduleExtensions.join(", ")} file, or the name of a webhook tool`)
    .option("--url <url>", "the webhook that each call is posted to")
    .option("--name <name>", "of a module: the tool's name (default: what it exports, or its file name)")
    .option("--description <text>", "of a webhook: what the model is told")
    .option("--parameters <json>", "of a webhook: JSON schema of the input, or @file")
    .option("--agent <agent>", agentHelp)
    .addOption(createAgencyOption())
    .addHelpText(
      "after",
      `${formatExamples(
        ["tool add weather.ts -a @review", ""],
        [
          "tool add lookup --url https://example.com/lookup --description 'Finds a customer.' --parameters @lookup.json",
          "",
        ],
      )}

A module exports a description, parameters (a JSON schema) and a default function:
  export const description = "Tells the weather of a city.";
  export const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  export default async ({ city }) => (await fetch(\`https://example.com/\${city}\`)).text();`,
    )
    .action(async (given: string, flags: AddFlags) => {
      const tool =
        flags.url === undefined
          ? await readSingle(cli, given, flags)
          : await createWebhook(cli, given, flags.url, flags);
      const [added] = await putTools(cli, flags, [tool]);
      cli.output.reply(added, () => describeAdded(cli, flags, [tool.name]));
    });
}

export function addImport(group: Command, cli: Cli): void {
  group
    .command("import")
    .description("give the agents of an agency all tools that a module exports")
    .argument("<module>", `${moduleExtensions.join(", ")} file`)
    .option("--agent <agent>", agentHelp)
    .addOption(createAgencyOption())
    .addHelpText(
      "after",
      `${formatExamples(["tool import tools.ts -a @review", ""], ["tool import tools.ts --agent alice", ""])}

Each tool is an object:
  export const weather = { description: "…", parameters: { type: "object", … }, execute: async ({ city }) => "…" };`,
    )
    .action(async (file: string, flags: ToolFlags) => {
      if (!isModuleFile(file)) throw createFileError(file);
      const tools = await readTools(cli, file);
      const added = await putTools(cli, flags, tools);
      cli.output.reply({ tools: added }, () =>
        describeAdded(
          cli,
          flags,
          tools.map(({ name }) => name),
        ),
      );
    });
}

export function addMock(group: Command, cli: Cli): void {
  group
    .command("mock")
    .description("let every call of a tool return the same result, in place of the tool with this name")
    .argument("<name>", "name of the tool; it need not exist")
    .argument("<json>", "the result as JSON, or @file")
    .option("--description <text>", "what the model is told, if there is no such tool")
    .option("--agent <agent>", agentHelp)
    .addOption(createAgencyOption())
    .addHelpText(
      "after",
      formatExamples(
        [`tool mock webSearch '{"results": []}' --agent alice`, ""],
        ["tool mock deploy @result.json -a @review", ""],
        ["tool rm webSearch --agent alice", "to end it"],
      ),
    )
    .action(async (name: string, json: string, { description, ...flags }: ToolFlags & { description?: string }) => {
      const mock = (await readJsonArgument(cli, json, "the result")) as Extract<NewTool, { mock: unknown }>["mock"];
      const tool = { name, mock, ...(description === undefined ? {} : { description }) };
      const [added] = await putTools(cli, flags, [tool as NewTool]);
      cli.output.reply(added, () => describeAdded(cli, flags, [name]));
    });
}

async function readSingle(cli: Cli, file: string, { name, description, parameters }: AddFlags): Promise<NewTool> {
  if (!isModuleFile(file)) throw createFileError(file);
  if (description !== undefined || parameters !== undefined)
    throw fail("bad_request", "--description and --parameters require --url; a module exports its own.");
  const [tool, ...others] = await readTools(cli, file);
  if (!tool || others.length > 0) {
    const names = [tool, ...others].flatMap((one) => one?.name ?? []).join(", ");
    throw fail("bad_request", `${file} has several tools: ${names}. Add all with \`thinkery tool import ${file}\`.`);
  }
  return name === undefined ? tool : { ...tool, name };
}

const createFileError = (given: string) =>
  fail(
    "bad_request",
    `“${given}” is no module (${moduleExtensions.join(", ")}). For a webhook, pass its name with --url.`,
  );

async function createWebhook(
  cli: Cli,
  given: string,
  url: string,
  { name, description, parameters }: AddFlags,
): Promise<NewTool> {
  if (name !== undefined) throw fail("bad_request", "--name is for modules; the webhook's name comes first.");
  if (description === undefined || parameters === undefined)
    throw fail("bad_request", "A webhook needs --description and --parameters, so that the model can call it.");
  const schema = await readJsonArgument(cli, parameters, "--parameters");
  return { name: given, description, parameters: schema as Record<string, never>, webhook: { url } };
}

/** Gives tools to the agents of the agency that the flags name, or to one of them. */
async function putTools(cli: Cli, flags: ToolFlags, tools: readonly NewTool[]): Promise<AgencyTool[]> {
  const agency = getAgency(cli, flags);
  const { client } = await connect(cli);
  const added: AgencyTool[] = [];
  for (const tool of tools) added.push(await putTool(client, agency, tool, flags.agent?.replace(/^@/, "")));
  return added;
}

function putTool(client: Client, agency: string, tool: NewTool, agent: string | undefined): Promise<AgencyTool> {
  const body = { tool, ...(agent === undefined ? {} : { agent }) };
  return client.call("putAgencyTool", { params: { agency, tool: tool.name }, body }).catch(async (error: unknown) => {
    throw await explainMissingAgency(client, agency, error);
  });
}

function describeAdded(cli: Cli, flags: ToolFlags, names: readonly string[]): string {
  const owner = flags.agent ?? `the agents of ${getAgency(cli, flags)}`;
  return `Gave ${names.join(", ")} to ${owner}. ${names.length === 1 ? "It is" : "They are"} offered from the next turn on.`;
}
