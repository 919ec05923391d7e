import { type Blueprint, blueprintSchema, listSubagentTypes, type ReasoningEffort } from "@thinkery/sdk";

/** A blueprint as agents that may delegate to it see it. */
export interface SubagentTypeInfo {
  name: string;
  description: string;
  model?: string;
  /** How much the model of its primary role thinks. */
  effort?: ReasoningEffort;
  /** The blueprint itself, if another one's config contains it. */
  blueprint?: Blueprint;
}

/** Returns the types that a blueprint may delegate to: those of its config, or else all of its agency. */
export function selectSubagentTypes(
  blueprint: Pick<Blueprint, "config">,
  all: readonly SubagentTypeInfo[],
): readonly SubagentTypeInfo[] {
  const allowed = listSubagentTypes(blueprint);
  if (!allowed) return all;
  return allowed.flatMap((type): readonly SubagentTypeInfo[] => {
    if (typeof type === "string") return all.filter(({ name }) => name === type);
    const inline = blueprintSchema.parse(type);
    return [toType(inline, inline)];
  });
}

/** `inline`: the blueprint, if no agency has it. */
export function toType({ name, description, model, reasoning }: Blueprint, inline?: Blueprint): SubagentTypeInfo {
  return {
    name,
    description,
    ...(model ? { model } : {}),
    ...(reasoning?.primary ? { effort: reasoning.primary } : {}),
    ...(inline ? { blueprint: inline } : {}),
  };
}

const maxListedTypes = 20;
const maxDescriptionChars = 200;

/** Returns the part of the system prompt that lists them; empty if there is no choice. */
export function formatSubagentTypes(types: readonly SubagentTypeInfo[], own: string): string {
  // Without a description, a model cannot choose it; it can still be named.
  const others = types.filter(({ name, description }) => name !== own && name !== "think" && description !== "");
  const lines = others
    .slice(0, maxListedTypes)
    .map(({ name, description }) => `- ${name}: ${description.slice(0, maxDescriptionChars)}`);
  return lines.length > 0 ? `## Sub-agents\n${lines.join("\n")}` : "";
}
