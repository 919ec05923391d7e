import { fail, type Tool, toolNameRule } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { z } from "zod";
import type { ToolDefinition } from "../model/model.ts";
import { createStaticSource, MutableToolSource, type ToolSource } from "./tool-source.ts";

/** More than any provider takes. */
const maxTools = 256;
/** An optional source that takes longer is treated as one that failed. */
const maxListSeconds = 10;

/** Core tools cannot be removed or replaced. */
const coreName = "the core";

export const createCoreSource = (tools: readonly Tool[]): ToolSource => createStaticSource(coreName, tools);

interface Entry {
  tool: Tool;
  source: ToolSource;
}

interface Attachment {
  source: ToolSource;
  tools: readonly Tool[];
  isStale: boolean;
  hasFailed: boolean;
  unsubscribe?: () => void;
}

/**
 * The tools of one agent, by every name a model may use for them. A toolbox with a parent has the parent's tools and its
 * own; the parent does not get these.
 */
export class Toolbox {
  readonly #parent: Toolbox | undefined;
  readonly #attachments: Attachment[] = [];
  #byName = new Map<string, Entry>();
  #definitions: { of: readonly ToolDefinition[] | undefined; all: readonly ToolDefinition[] } | undefined;

  /** For sources whose lists are synchronous; otherwise use `load`. */
  constructor(sources: readonly ToolSource[] = [], parent?: Toolbox) {
    this.#parent = parent;
    for (const source of sources) {
      if (this.attach(source)) throw new Error(`The tools of ${source.name} have to be loaded.`);
    }
  }

  static async load(sources: readonly ToolSource[]): Promise<Toolbox> {
    const toolbox = new Toolbox();
    for (const source of sources) await toolbox.attach(source);
    return toolbox;
  }

  /** Adds a source and follows its changes. Throws if a name is taken. Returns a promise if its list is asynchronous. */
  attach(source: ToolSource): void | Promise<void> {
    const attachment: Attachment = { source, tools: [], isStale: false, hasFailed: false };
    const use = (tools: readonly Tool[]) => {
      this.#use(attachment, this.#admit(attachment, tools));
      this.#attachments.push(attachment);
      const unsubscribe = source.subscribe?.(() => this.#onChange(attachment));
      if (unsubscribe) attachment.unsubscribe = unsubscribe;
    };
    const listed = listTools(source);
    if (!(listed instanceof Promise)) return use(listed);
    return listed.then(use, (error: unknown) => {
      if (!source.optional) throw error;
      logFailure(source, error);
      attachment.hasFailed = true;
      use([]);
    });
  }

  /** Adds a tool at run time, such as one of a middleware; returns what a model is told of it. */
  register(tool: Tool, sourceName: string): ToolDefinition {
    checkShape(tool);
    const definition = toDefinition(tool);
    this.#getMutableSource(sourceName).add(tool);
    return definition;
  }

  remove(tool: Tool): void {
    for (const { source } of this.#attachments) if (source instanceof MutableToolSource) source.remove(tool);
  }

  /** Whether an asynchronous source has changed since it was listed. */
  get isStale(): boolean {
    return this.#attachments.some(({ isStale }) => isStale) || (this.#parent?.isStale ?? false);
  }

  /** Lists the sources again that changed and, if told so, those that failed. A tool whose name is taken is left out. */
  async refresh(options: { retryFailed?: boolean } = {}): Promise<void> {
    await this.#parent?.refresh(options);
    for (const attachment of this.#attachments) {
      const { source, isStale, hasFailed } = attachment;
      if (!isStale && !(options.retryFailed && hasFailed)) continue;
      attachment.isStale = false;
      try {
        const tools = await listTools(source);
        attachment.hasFailed = false;
        this.#use(attachment, this.#dropTaken(attachment, tools.filter(isTool)));
      } catch (error) {
        // The tools it had before stay.
        attachment.hasFailed = true;
        logFailure(source, error);
      }
    }
  }

  /** Stops following its sources. */
  close(): void {
    for (const { unsubscribe } of this.#attachments) unsubscribe?.();
  }

  find(name: string): Tool | undefined {
    return (this.#findEntry(name) ?? this.#findEntry(name.trim()))?.tool;
  }

  isCore(name: string): boolean {
    return this.#findEntry(name)?.source.name === coreName;
  }

  /** What a model reads that called a tool that does not exist. */
  describeUnknown(name: string): string {
    const tools = this.#listAll();
    const near = findNearest(name, tools.flatMap(listNames));
    const names = tools.map((tool) => tool.name).join(", ");
    return `There is no tool “${name.slice(0, 100)}”.${near ? ` Did you mean ${near}?` : ""} The tools are: ${names}.`;
  }

  /** In a fixed order and shape: the bytes a provider caches must not change between calls. */
  definitions(): readonly ToolDefinition[] {
    const inherited = this.#parent?.definitions();
    if (inherited && this.#byName.size === 0) return inherited;
    if (this.#definitions?.of !== inherited) this.#definitions = undefined;
    this.#definitions ??= { of: inherited, all: this.#listAll().map(toDefinition) };
    return this.#definitions.all;
  }

  #findEntry(name: string): Entry | undefined {
    return this.#byName.get(name) ?? (this.#parent ? this.#parent.#findEntry(name) : undefined);
  }

  #listAll(): Tool[] {
    const inherited = this.#parent ? this.#parent.#listAll() : [];
    const own = this.#attachments.flatMap(({ tools }) => tools);
    // A tool that the parent got later does not replace one of ours.
    return own.length === 0 ? inherited : [...inherited.filter(({ name }) => !this.#byName.has(name)), ...own];
  }

  #getMutableSource(name: string): MutableToolSource {
    const known = this.#attachments.find(({ source }) => source instanceof MutableToolSource && source.name === name);
    if (known) return known.source as MutableToolSource;
    const source = new MutableToolSource(name);
    this.attach(source);
    return source;
  }

  #onChange(attachment: Attachment): void {
    const listed = attachment.source.list();
    if (!(listed instanceof Promise)) return this.#use(attachment, this.#admit(attachment, listed));
    listed.catch(() => {});
    attachment.isStale = true;
  }

  /** Puts these tools in place of those that the source had; throws, and changes nothing, if a name is taken. */
  #use(attachment: Attachment, tools: readonly Tool[]): void {
    const byName = new Map(this.#byName);
    for (const [name, { source }] of this.#byName) if (source === attachment.source) byName.delete(name);
    const others = this.#listAll().length - attachment.tools.length;
    for (const [index, tool] of tools.entries()) {
      for (const name of listNames(tool)) {
        const other = byName.get(name) ?? (this.#parent ? this.#parent.#findEntry(name) : undefined);
        if (other) throw createNameTakenError(name, other.source, attachment.source);
        byName.set(name, { tool, source: attachment.source });
      }
      if (others + index >= maxTools) {
        const what = `“${tool.name}” from ${attachment.source.name}`;
        throw fail("conflict", `An agent may have ${maxTools} tools, and ${what} would be one more.`);
      }
    }
    this.#byName = byName;
    attachment.tools = tools;
    this.#definitions = undefined;
  }

  /** Names that are taken are a mistake in what the agent is made of, but not in what may change at any time. */
  #admit(attachment: Attachment, tools: readonly Tool[]): readonly Tool[] {
    return attachment.source.optional ? this.#dropTaken(attachment, tools.filter(isTool)) : tools;
  }

  #dropTaken(attachment: Attachment, tools: readonly Tool[]): Tool[] {
    const used = new Set<string>();
    return tools.filter((tool) => {
      const names = listNames(tool);
      const taken = names.find((name) => {
        const other = this.#findEntry(name);
        return used.has(name) || (other && other.source !== attachment.source);
      });
      for (const name of names) used.add(name);
      if (taken !== undefined)
        console.error(`the tool ${taken} of ${attachment.source.name} is left out: its name is taken`);
      return taken === undefined;
    });
  }
}

function createNameTakenError(name: string, one: ToolSource, other: ToolSource): Error {
  return fail(
    "conflict",
    `Two tools are named “${name}”: one is from ${one.name}, the other from ${other.name}. Rename one.`,
  );
}

function listTools(source: ToolSource): readonly Tool[] | Promise<readonly Tool[]> {
  const listed = source.list();
  if (!(listed instanceof Promise) || !source.optional) return listed;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `It did not list its tools within ${maxListSeconds} s.`;
    timer = setTimeout(() => reject(new Error(message)), maxListSeconds * 1000);
  });
  return Promise.race([listed, late]).finally(() => clearTimeout(timer));
}

function logFailure({ name }: ToolSource, error: unknown): void {
  console.error(`the tools of ${name} could not be listed: ${error instanceof Error ? error.message : String(error)}`);
}

const listNames = ({ name, aliases = [] }: Tool) => [name, ...aliases];

// A malformed tool would fail the calls to the model, where nobody could say whose fault it was.
function isTool(tool: Partial<Tool> | undefined): tool is Tool {
  const { name, aliases = [], description, inputSchema, execute } = tool ?? {};
  return (
    [name, ...aliases].every((word) => typeof word === "string" && toolNameRule.pattern.test(word)) &&
    typeof description === "string" &&
    typeof inputSchema?.safeParse === "function" &&
    typeof execute === "function"
  );
}

function checkShape(tool: Partial<Tool> | undefined): void {
  if (isTool(tool)) return;
  const what = typeof tool?.name === "string" ? `“${tool.name.slice(0, 100)}”` : "What was registered";
  throw new Error(`${what} is no tool. Make it with defineTool.`);
}

/** A pure function's results; an entry lives as long as its tool. */
const definitionCache = new WeakMap<Tool, ToolDefinition>();

function toDefinition(tool: Tool): ToolDefinition {
  let definition = definitionCache.get(tool);
  if (!definition) {
    definition = { name: tool.name, description: tool.description, parameters: tool.parameters ?? toParameters(tool) };
    definitionCache.set(tool, definition);
  }
  return definition;
}

function toParameters({ inputSchema: input }: Tool): Record<string, unknown> {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  return parameters;
}
