import { type AgentCodeInfo, isThinkeryError, type Package } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { type AgencyFlags, createAgencyOption } from "../agency-option.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatSize } from "../files/format.ts";
import { formatExamples } from "../help.ts";
import type { Output } from "../output.ts";
import { type AgentTarget, getDefaultAgency } from "../target.ts";
import { findPackage } from "./find-package.ts";
import { formatTarget } from "./format-deploy.ts";
import { packageTargetHelp, resolvePackageTarget } from "./package-target.ts";

export function addInfo(group: Command, cli: Cli): void {
  group
    .command("info")
    .description("show a package: its versions, what it is granted, and what its agent has used")
    .argument("<dir|name>", packageTargetHelp)
    .addOption(createAgencyOption())
    .addHelpText("after", formatExamples(["agent info ./hello", ""], ["agent info hello@review", ""]))
    .action(async (text: string, flags: AgencyFlags) => {
      const target = await resolvePackageTarget(cli, text, flags);
      const { client } = await connect(cli);
      const found = await findPackage(client, target);
      const agent = await readAgentCode(client, target, found.name);
      cli.output.reply({ ...found, ...(agent ? { agent } : {}) }, () =>
        formatPackage(cli.output, found, agent, formatTarget(target.agent, target.agency, getDefaultAgency(cli))),
      );
    });
}

/** Returns what the agent named after the package has used, if that agent runs it. */
async function readAgentCode(
  client: Client,
  { agency, agent }: AgentTarget,
  name: string,
): Promise<AgentCodeInfo | undefined> {
  try {
    const code = await withRetry((signal) => client.call("getAgentCode", { params: { agency, agent }, signal }));
    return code.package === name ? code : undefined;
  } catch (error) {
    // There is none, or it is an agent without code.
    if (isThinkeryError(error) && ["not_found", "conflict", "bad_request"].includes(error.code)) return undefined;
    throw error;
  }
}

function formatPackage(output: Output, found: Package, agent: AgentCodeInfo | undefined, target: string): string {
  const { name, displayName, description, version, capabilities, tools, settings, agents } = found;
  const fields = output.formatFields([
    ["package", displayName === name ? name : `${name} (${displayName})`],
    ["description", description || undefined],
    ["version", `${version}, deployed ${found.deployedAt} by ${found.deployedBy}`],
    ["granted", capabilities.join(", ") || "nothing"],
    ["tools", tools.map((tool) => tool.name).join(", ") || "none"],
    ["settings", Object.keys(settings).join(", ") || "none"],
    ["agents", agents.join(", ") || "none"],
    ...(agent ? formatUse(agent, target) : []),
  ]);
  const rows = found.versions.map((each) => [
    `${each.version}${each.isCurrent ? " (current)" : ""}`,
    each.capabilities.join(" ") || "none",
    formatSize(each.bytes),
    each.deployedAt,
    each.deployedBy,
  ]);
  return `${fields}\n\n${output.formatTable(["VERSION", "CAPABILITIES", "SIZE", "DEPLOYED", "BY"], rows)}`;
}

function formatUse(agent: AgentCodeInfo, target: string): [string, string | undefined][] {
  const { version, pinned, requests, state, storage, lastError, isApart, process } = agent;
  const average = requests.total > 0 ? Math.round(requests.ms / requests.total) : 0;
  return [
    [
      target,
      `version ${version}${pinned ? ", pinned by its blueprint" : ""}${isApart ? ", in a process of its own, because it ended a shared one" : ""}`,
    ],
    [
      "  requests",
      `${requests.total}, ${requests.failed} failed; ${average} ms on average, ${Math.round(requests.longestMs)} ms at most`,
    ],
    ["  calls", `${requests.modelCalls} of models, ${requests.hostCalls} in all`],
    ["  state", `${formatSize(state.bytes)} of ${formatSize(state.maxBytes)}, ${state.keys} keys`],
    ["  storage", `${formatSize(storage.chars)} of ${formatSize(storage.maxChars)}, ${storage.entries} entries`],
    [
      "  process",
      process &&
        `${process.memoryBytes === undefined ? "running" : formatSize(process.memoryBytes)}, ${process.agents === 1 ? "its own so far" : `shared by ${process.agents} agents`}`,
    ],
    ["  last error", lastError && `${lastError.at}, version ${lastError.version}: ${lastError.message}`],
  ];
}
