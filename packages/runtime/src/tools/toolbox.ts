import { nearest } from "@thinkery/sdk";
import { z } from "zod";
import type { ToolDefinition } from "../model/model.ts";
import type { Tool } from "./tool.ts";

/** The tools of one agent, by every name a model may use for them. */
export class Toolbox {
  readonly #tools: readonly Tool[];
  readonly #byName = new Map<string, Tool>();

  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
    for (const tool of tools) {
      for (const name of [tool.name, ...(tool.aliases ?? [])]) this.#byName.set(name, tool);
    }
  }

  find(name: string): Tool | undefined {
    return this.#byName.get(name) ?? this.#byName.get(name.trim());
  }

  /** What a model hears that called a tool there is not. */
  unknown(name: string): string {
    const near = nearest(name, [...this.#byName.keys()]);
    const names = this.#tools.map((tool) => tool.name).join(", ");
    return `There is no tool “${name.slice(0, 100)}”.${near ? ` Did you mean ${near}?` : ""} The tools are: ${names}.`;
  }

  /** In a fixed order and shape: the bytes a provider caches must not change between calls. */
  definitions(): readonly ToolDefinition[] {
    return this.#tools.map(definitionOf);
  }
}

const definitions = new WeakMap<Tool, ToolDefinition>();

function definitionOf(tool: Tool): ToolDefinition {
  let definition = definitions.get(tool);
  if (!definition) {
    const { $schema: _, ...parameters } = z.toJSONSchema(tool.input, { io: "input", unrepresentable: "any" });
    definition = { name: tool.name, description: tool.description, parameters };
    definitions.set(tool, definition);
  }
  return definition;
}
