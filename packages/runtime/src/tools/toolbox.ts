import { fail, nearest, type Tool, toolNameRule } from "@thinkery/sdk";
import { z } from "zod";
import type { ToolDefinition } from "../model/model.ts";

/** Where tools come from, in words: two of one name are refused, and both are named. */
export interface ToolSource {
  from: string;
  tools: readonly Tool[];
}

/** More than any provider takes. */
const mostTools = 256;

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
    const names = namesOf(tool);
    for (const name of names) {
      const other = this.#byName.get(name);
      if (other) throw fail("conflict", `Two tools are named “${name}”: one is from ${other.from}, the other from ${from}. Rename one.`);
    }
    if (this.#tools.length >= mostTools) throw fail("conflict", `An agent may have ${mostTools} tools, and “${tool.name}” from ${from} would be one more.`);
    const entry = { tool, from };
    for (const name of names) this.#byName.set(name, entry);
    this.#tools.push(entry);
    this.#definitions = undefined;
  }

  /** Adds one that came while the agent is at work, when nobody has looked at it yet. Answers what a model is told of it. */
  register(tool: Tool, from: string): ToolDefinition {
    checkShape(tool);
    const definition = definitionOf(tool);
    this.add(tool, from);
    return definition;
  }

  remove(tool: Tool): void {
    const at = this.#tools.findIndex((entry) => entry.tool === tool);
    if (at < 0) return;
    for (const name of namesOf(tool)) this.#byName.delete(name);
    this.#tools.splice(at, 1);
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

const namesOf = ({ name, aliases = [] }: Tool) => [name, ...aliases];

// What is not right would fail the calls to the model, where nobody could say whose fault it was.
function checkShape(tool: Partial<Tool> | undefined): void {
  const { name, aliases = [], description, input, run } = tool ?? {};
  const isTool =
    [name, ...aliases].every((word) => typeof word === "string" && toolNameRule.pattern.test(word)) &&
    typeof description === "string" &&
    typeof input?.safeParse === "function" &&
    typeof run === "function";
  if (!isTool) throw new Error(`${typeof name === "string" ? `“${name.slice(0, 100)}”` : "What was registered"} is no tool. Make it with defineTool.`);
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
