import type { AgentCapability, Deploy } from "@thinkery/sdk";
import { formatSize } from "../files/format.ts";
import { type Output, sanitizeIndented } from "../output.ts";

/** What an agent may do with a capability. */
const meanings: Record<AgentCapability, string> = {
  ai: "calls models, which counts against its budgets",
  tools: "calls its tools, with their approvals and rules",
  fs: "reads and writes the files of its workspace",
  bash: "runs shell commands in its workspace",
  fetch: "makes HTTP requests, as far as the policy allows",
  channel: "writes messages into its conversation one by one, and calls tools there",
};

/** Formats what was deployed, and everything it may do. `target` is its agent, as commands take it. */
export function formatDeploy(output: Output, deploy: Deploy, target: string): string {
  const { capabilities, added, removed, tools, settings, dryRun, name } = deploy;
  // Without an agent of the package’s name, there is a warning that says so.
  const agent = dryRun ? undefined : deploy.agent;
  const lines = [
    ...(asksForMore(deploy) ? [`This version asks for more than the one before: ${added.join(", ")}`] : []),
    ...(removed.length > 0 ? [`No longer granted: ${removed.join(", ")}`] : []),
    capabilities.length === 0
      ? `${dryRun ? "It would be" : "It is"} granted nothing; reply, state, storage and log need no grant.`
      : dryRun
        ? "It would be granted:"
        : "It is granted:",
    ...formatGrants(deploy),
    ...(tools.length > 0
      ? [`Tools for the agency’s other agents: ${tools.map((tool) => formatToolName(name, tool.name)).join(", ")}`]
      : []),
    ...(settings.length > 0
      ? [`Settings: ${settings.join(", ")}${agent ? `. Change them with \`thinkery settings ${target}\`.` : ""}`]
      : []),
    ...(agent ? [`${agent.isNew ? "Created the agent. " : ""}Talk to it with \`thinkery chat ${target}\`.`] : []),
  ];
  return [output.bold(sanitizeIndented(formatSummary(deploy))), ...lines.map(sanitizeIndented)].join("\n");
}

/** Whether people who know the version before should look at what this one may do. */
export function asksForMore({ added, version }: Deploy): boolean {
  return added.length > 0 && version > 1;
}

function formatSummary({ name, version, isNew, dryRun, bytes }: Deploy): string {
  if (dryRun && isNew) return `Nothing was deployed. ${name} would become version ${version} (${formatSize(bytes)}).`;
  return isNew
    ? `Deployed ${name} version ${version} (${formatSize(bytes)}).`
    : `${name} is unchanged: version ${version}.`;
}

function formatGrants({ capabilities, added, version }: Deploy): string[] {
  const width = Math.max(...capabilities.map((name) => name.length));
  return capabilities.map((name) => {
    const mark = added.includes(name) && version > 1 ? " (new)" : "";
    return `  ${name.padEnd(width)}  ${meanings[name] ?? ""}${mark}`;
  });
}

/** Formats the name of a tool as other agents call it. */
export function formatToolName(agent: string, tool: string): string {
  return `${agent.replaceAll(".", "_")}__${tool}`;
}

/** Formats the name of an agent as commands take it. */
export function formatTarget(name: string, agency: string, defaultAgency: string): string {
  return agency === defaultAgency ? name : `${name}@${agency}`;
}
