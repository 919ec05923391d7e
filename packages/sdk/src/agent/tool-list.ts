import type { ToolList } from "./definition.ts";
import type { HostClient } from "./host-client.ts";
import { toJson } from "./json.ts";
import type { WireTool, WireToolResult } from "./wire.ts";

/** An error of a tool, or the refusal of a person, as `execute` throws it. */
export class ToolCallError extends Error {
  override readonly name = "ToolCallError";
  readonly tool: string;

  constructor(tool: string, message: string) {
    super(message);
    this.tool = tool;
  }
}

export function createToolList(tools: readonly WireTool[], host: HostClient): ToolList {
  const list = tools.map((tool) => Object.freeze({ ...tool }));
  const execute = async (name: string, args: unknown = {}) => {
    const input = toJson(args, `The arguments of ${name}`);
    const { results } = await host.call("tools.execute", { calls: [{ name, input }] });
    return unwrapResult(name, results[0] as WireToolResult);
  };
  // Not enumerable, so that the list can be passed to a model and printed.
  Object.defineProperty(list, "execute", { value: execute });
  return Object.freeze(list) as unknown as ToolList;
}

/** Returns what a tool returned. */
export function unwrapResult(name: string, result: WireToolResult): unknown {
  if (result.isError) throw new ToolCallError(name, result.content);
  return result.output === undefined ? result.content : result.output;
}
