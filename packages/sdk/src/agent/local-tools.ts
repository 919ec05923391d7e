import type { LocalTool } from "./definition.ts";
import { toJson } from "./json.ts";
import type { JsonValue, WireTool, WireToolResult } from "./wire.ts";

/** The tools that one call offers to a model. */
export interface OfferedTools {
  tools: readonly WireTool[];
  localTools: ReadonlyMap<string, LocalTool>;
}

/** Separates the tools that the agent's code executes itself from what a model is told of all tools. */
export function createLocalTools(given: readonly (WireTool | LocalTool)[] = []): OfferedTools {
  const localTools = new Map<string, LocalTool>();
  const tools = given.map((tool) => {
    if ("execute" in tool) localTools.set(tool.name, tool);
    const { name, description, parameters } = tool;
    return { name, description, parameters };
  });
  return { tools, localTools };
}

/** Its errors are for the model, too. */
export async function callLocalTool(tool: LocalTool, input: JsonValue): Promise<WireToolResult> {
  try {
    const returned: unknown = await tool.execute(input);
    const output = returned === undefined ? null : toJson(returned, `The result of ${tool.name}`);
    return { content: typeof output === "string" ? output : JSON.stringify(output), output, isError: false };
  } catch (error) {
    return { content: error instanceof Error ? error.message : String(error), isError: true };
  }
}
