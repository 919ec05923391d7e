import type { ValidationIssue } from "@thinkery/sdk";
import { findMentions } from "@thinkery/sdk/internal";

interface NameIssue extends ValidationIssue {
  /** The key at the path is what is wrong, not its value. */
  isKey?: boolean;
  /** The part of the value that is wrong. */
  part?: string;
}

/** Finds names in a workflow file that clash or that nobody has. The shape of the file is not checked yet. */
export function checkNames(value: object): NameIssue[] {
  const { agents, setup, kickoff } = value as { agents?: unknown; setup?: unknown; kickoff?: unknown };
  const names = isRecord(agents) ? Object.keys(agents) : [];
  return [
    ...findCaseClashes(names),
    ...(isRecord(agents) ? findDoublePrompts(agents) : []),
    ...(Array.isArray(setup) ? findSameOutputs(setup) : []),
    ...(typeof kickoff === "string" && names.length > 0 ? findUnknownMentions(kickoff, names) : []),
  ];
}

// Mentions find agents in any case.
function findCaseClashes(names: readonly string[]): NameIssue[] {
  return names.flatMap((name, index) => {
    const first = names.slice(0, index).find((other) => other.toLowerCase() === name.toLowerCase());
    if (first === undefined) return [];
    return { path: ["agents", name], message: `differs from the agent “${first}” only in case`, isKey: true };
  });
}

function findDoublePrompts(agents: Record<string, unknown>): NameIssue[] {
  return Object.entries(agents).flatMap(([name, agent]) => {
    if (!isRecord(agent) || agent.system_prompt === undefined || agent.system_prompt_file === undefined) return [];
    const path = ["agents", name, "system_prompt_file"];
    return { path, message: "give either system_prompt or system_prompt_file, not both", isKey: true };
  });
}

function findSameOutputs(setup: readonly unknown[]): NameIssue[] {
  const names = setup.map((step) => (isRecord(step) ? step.as : undefined));
  return names.flatMap((name, index) => {
    const first = names.indexOf(name);
    if (typeof name !== "string" || first === index) return [];
    return { path: ["setup", index, "as"], message: `“${name}” is the name of step ${first + 1} already` };
  });
}

function findUnknownMentions(kickoff: string, names: readonly string[]): NameIssue[] {
  const known = {
    findAgent: (name: string) => names.find((other) => other.toLowerCase() === name.toLowerCase()),
    hasPerson: () => false,
    listAgents: () => [...names],
  };
  return findMentions(kickoff, known).unknown.map(({ name, suggestion }) => {
    const advice = suggestion === undefined ? `The agents are ${names.join(", ")}` : `Did you mean “@${suggestion}”?`;
    return { path: ["kickoff"], message: `no agent is named “${name}”. ${advice}`, part: `@${name}` };
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
