import type { AgentDefinition, Data, ToolProvider } from "./definition.ts";
import type { WireTool } from "./wire.ts";

/** Returns the tools an agent provides, with JSON schemas. */
export function describeTools({ tools = {} }: Pick<AgentDefinition<Data, Data>, "tools">): WireTool[] {
  return Object.entries(tools).map(([name, { description, parameters }]) => ({
    name,
    description,
    parameters: toJsonSchema(parameters),
  }));
}

/** Turns the shorthand for parameters into a JSON schema. */
function toJsonSchema(parameters: ToolProvider["parameters"] = {}): Record<string, unknown> {
  const given = parameters as Record<string, unknown>;
  if (given.type === "object") return given;
  const entries = Object.entries(given as Record<string, { optional?: boolean; [keyword: string]: unknown }>);
  const required = entries.filter(([, { optional }]) => !optional).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, { ...schema }]) => [name, (delete schema.optional, schema)])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}
