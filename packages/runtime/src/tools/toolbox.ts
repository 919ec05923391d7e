import { fail, nearest, type Tool } from "@thinkery/sdk";
import { z } from "zod";
import type { ToolDefinition } from "../model/model.ts";

/** Where tools come from, in words: two of one name are refused, and both are named. */
export interface ToolSource {
  from: string;
  tools: readonly Tool[];
}

/** The core cannot be removed or replaced. */
const core = "the core";

export const coreSource = (tools: readonly Tool[]): ToolSource => ({ from: core, tools });

/** The tools of one agent, by every name a model may use for them. */
export class Toolbox {
  readonly #tools: { tool: Tool; from: string }[] = [];
  readonly #byName = new Map<string, { tool: Tool; from: string }>();
  #definitions: readonly ToolDefinition[] | undefined;

  constructor(sources: readonly ToolSource[]) {
    for (const { from, tools } of sources) for (const tool of tools) this.add(tool, from);
  }

  add(tool: Tool, from: string): void {
    const names = [tool.name, ...(tool.aliases ?? [])];
    for (const name of names) {
      const other = this.#byName.get(name);
      if (other) throw fail("conflict", `Two tools are named “${name}”: one is from ${other.from}, the other from ${from}. Rename one.`);
    }
    const entry = { tool, from };
    for (const name of names) this.#byName.set(name, entry);
    this.#tools.push(entry);
    this.#definitions = undefined;
  }

  /** The same tools, to add others that this one does not get. */
  copy(): Toolbox {
    const copy = new Toolbox([]);
    for (const entry of this.#tools) copy.#tools.push(entry);
    for (const [name, entry] of this.#byName) copy.#byName.set(name, entry);
    copy.#definitions = this.#definitions;
    return copy;
  }

  find(name: string): Tool | undefined {
    return (this.#byName.get(name) ?? this.#byName.get(name.trim()))?.tool;
  }

  isCore(name: string): boolean {
    return this.#byName.get(name)?.from === core;
  }

  /** What a model hears that called a tool there is not. */
  unknown(name: string): string {
    const near = nearest(name, [...this.#byName.keys()]);
    const names = this.#tools.map(({ tool }) => tool.name).join(", ");
    return `There is no tool “${name.slice(0, 100)}”.${near ? ` Did you mean ${near}?` : ""} The tools are: ${names}.`;
  }

  /** In a fixed order and shape: the bytes a provider caches must not change between calls. */
  definitions(): readonly ToolDefinition[] {
    this.#definitions ??= this.#tools.map(({ tool }) => definitionOf(tool));
    return this.#definitions;
  }
}

const definitions = new WeakMap<Tool, ToolDefinition>();

function definitionOf(tool: Tool): ToolDefinition {
  let definition = definitions.get(tool);
  if (!definition) {
    definition = { name: tool.name, description: tool.description, parameters: tool.parameters ?? parametersOf(tool) };
    definitions.set(tool, definition);
  }
  return definition;
}

function parametersOf({ input }: Tool): Record<string, unknown> {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  return parameters;
}
