import { fail, type Tool, toolNameRule } from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { z } from "zod";
import type { ToolDefinition } from "../model/model.ts";
import { createStaticSource, MutableToolSource, type ToolSource } from "./tool-source.ts";

/** More than any provider accepts. */
const maxTools = 256;
/** An optional source that takes longer is treated as one that failed. */
const maxListSeconds = 10;

/** Core tools cannot be removed or replaced. */
const coreName = "the core";

/** Where replacements come from. */
const mockLabel = "mock";

export const createCoreSource = (tools: readonly Tool[]): ToolSource => createStaticSource(coreName, tools, "core");

interface Entry {
  tool: Tool;
  source: ToolSource;
}

/** A tool with where it comes from. */
export interface ListedTool {
  tool: Tool;
  source: string;
  /** Where the tool comes from whose place this one takes. */
  replaces?: string;
  /** Whether the model is offered it. */
  isOffered: boolean;
}

/** Creates the tool that takes the place of another, or that is added if there is none. */
type CreateReplacement = (replaced: Tool | undefined) => Tool;

interface Attachment {
  source: ToolSource;
  tools: readonly Tool[];
  isStale: boolean;
  hasFailed: boolean;
  unsubscribe?: () => void;
}

/**
 * The tools of one agent, by every name a model may use. A toolbox with a parent has the parent's tools and its own; the
 * parent does not get those.
 */
export class Toolbox {
  readonly #parent: Toolbox | undefined;
  readonly #attachments: Attachment[] = [];
  #byName = new Map<string, Entry>();
  #definitions: { of: readonly ToolDefinition[] | undefined; all: readonly ToolDefinition[] } | undefined;
  /** Groups of tools that are offered although they are on demand. */
  readonly #enabled = new Set<string>();
  readonly #replacements = new Map<string, { create: CreateReplacement; of?: Tool | undefined; tool?: Tool }>();

  /** For sources whose lists are synchronous; otherwise use `load`. */
  constructor(sources: readonly ToolSource[] = [], parent?: Toolbox) {
    this.#parent = parent;
    for (const source of sources) {
      if (this.attach(source))
        throw new Error(`The tools of ${source.name} are listed asynchronously. Use Toolbox.load.`);
    }
  }

  static async load(sources: readonly ToolSource[]): Promise<Toolbox> {
    const toolbox = new Toolbox();
    for (const source of sources) await toolbox.attach(source);
    return toolbox;
  }

  /**
   * Adds a source and follows its changes. Throws if a name is taken. Returns a promise if its list is asynchronous.
   */
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

  /** Adds a tool at run time, such as one from a middleware; returns its definition, or that of its replacement. */
  register(tool: Tool, sourceName: string, label = sourceName): ToolDefinition {
    checkShape(tool);
    // Throws before the tool is added if its schema cannot be shown to a model.
    toDefinition(tool);
    this.#getMutableSource(sourceName, label).add(tool);
    return toDefinition(this.find(tool.name) ?? tool);
  }

  /** Puts a tool in the place of the one with its name, wherever that comes from, also of one that comes later. */
  replace(name: string, create: CreateReplacement): void {
    this.#replacements.set(name, { create });
    this.#definitions = undefined;
  }

  remove(tool: Tool): void {
    for (const { source } of this.#attachments) if (source instanceof MutableToolSource) source.remove(tool);
  }

  /** Whether an asynchronous source has changed since it was listed. */
  get isStale(): boolean {
    return this.#attachments.some(({ isStale }) => isStale) || (this.#parent?.isStale ?? false);
  }

  /** Lists changed sources again and, with `retryFailed`, failed ones. Skips tools whose name is taken. */
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
        // The source keeps its previous tools.
        attachment.hasFailed = true;
        logFailure(source, error);
      }
    }
  }

  /** Unsubscribes from all sources. */
  close(): void {
    for (const { unsubscribe } of this.#attachments) unsubscribe?.();
  }

  find(name: string): Tool | undefined {
    return (
      this.#findReplacement(name) ??
      this.#findEntry(name)?.tool ??
      (name === name.trim() ? undefined : this.find(name.trim()))
    );
  }

  /** Returns all tools with their sources. */
  list(): ListedTool[] {
    const listed = this.#listEntries().map(({ tool, source: { name, label = name } }) => {
      const replacement = this.#findReplacement(tool.name);
      return replacement ? { tool: replacement, source: mockLabel, replaces: label } : { tool, source: label };
    });
    const added = this.#listAddedReplacements().map((tool) => ({ tool, source: mockLabel }));
    return [...listed, ...added].map((entry) => ({ ...entry, isOffered: this.#isOffered(entry.tool) }));
  }

  isCore(name: string): boolean {
    return this.#findEntry(name)?.source.name === coreName;
  }

  /** Returns the error message for a call to an unknown tool. */
  describeUnknown(name: string): string {
    const tools = this.#listAll();
    const near = findNearest(name, tools.flatMap(listNames));
    const names = tools.map((tool) => tool.name).join(", ");
    return `There is no tool “${name.slice(0, 100)}”.${near ? ` Did you mean ${near}?` : ""} Available tools: ${names}.`;
  }

  /** Offers a group of tools from now on that are left out unless an agent needs them. The parent does not. */
  enable(group: string): void {
    if (this.#enabled.has(group)) return;
    this.#enabled.add(group);
    this.#definitions = undefined;
  }

  /** In a fixed order and shape: the bytes a provider caches must not change between calls. */
  definitions(): readonly ToolDefinition[] {
    const inherited = this.#parent?.definitions();
    const isUnchanged = this.#byName.size === 0 && this.#enabled.size === 0 && this.#replacements.size === 0;
    if (inherited && isUnchanged) return inherited;
    if (this.#definitions?.of !== inherited) this.#definitions = undefined;
    this.#definitions ??= {
      of: inherited,
      all: this.#listAll()
        .filter((tool) => this.#isOffered(tool))
        .map(toDefinition),
    };
    return this.#definitions.all;
  }

  #isOffered({ onDemand }: Tool): boolean {
    return onDemand === undefined || this.#isEnabled(onDemand);
  }

  #isEnabled(group: string): boolean {
    return this.#enabled.has(group) || (this.#parent ? this.#parent.#isEnabled(group) : false);
  }

  #findEntry(name: string): Entry | undefined {
    return this.#byName.get(name) ?? (this.#parent ? this.#parent.#findEntry(name) : undefined);
  }

  /** Returns the replacement for the tool that a model calls by this name, which may be an alias. */
  #findReplacement(name: string): Tool | undefined {
    if (this.#replacements.size === 0) return undefined;
    const real = this.#findEntry(name)?.tool;
    const key = this.#replacements.has(name) || !real ? name : real.name;
    const replacement = this.#replacements.get(key);
    if (!replacement) return undefined;
    const of = real?.name === key ? real : undefined;
    if (!replacement.tool || replacement.of !== of) Object.assign(replacement, { of, tool: replacement.create(of) });
    return replacement.tool;
  }

  /** Returns the replacements that take no place, because there is no such tool. */
  #listAddedReplacements(): Tool[] {
    return [...this.#replacements.keys()]
      .filter((name) => this.#findEntry(name)?.tool.name !== name)
      .flatMap((name) => this.#findReplacement(name) ?? []);
  }

  #listAll(): Tool[] {
    const tools = this.#listEntries().map(({ tool }) => tool);
    if (this.#replacements.size === 0) return tools;
    return [...tools.map((tool) => this.#findReplacement(tool.name) ?? tool), ...this.#listAddedReplacements()];
  }

  #listEntries(): Entry[] {
    const inherited = this.#parent ? this.#parent.#listEntries() : [];
    const own = this.#attachments.flatMap(({ tools, source }) => tools.map((tool) => ({ tool, source })));
    // A tool the parent gained later does not replace one of ours.
    return own.length === 0 ? inherited : [...inherited.filter(({ tool }) => !this.#byName.has(tool.name)), ...own];
  }

  #getMutableSource(name: string, label: string): MutableToolSource {
    const known = this.#attachments.find(({ source }) => source instanceof MutableToolSource && source.name === name);
    if (known) return known.source as MutableToolSource;
    const source = new MutableToolSource(name, label);
    this.attach(source);
    return source;
  }

  #onChange(attachment: Attachment): void {
    const listed = attachment.source.list();
    if (!(listed instanceof Promise)) return this.#use(attachment, this.#admit(attachment, listed));
    listed.catch(() => {});
    attachment.isStale = true;
  }

  /** Replaces the tools of a source. Throws, and changes nothing, if a name is taken. */
  #use(attachment: Attachment, tools: readonly Tool[]): void {
    const byName = new Map(this.#byName);
    for (const [name, { source }] of this.#byName) if (source === attachment.source) byName.delete(name);
    const others = this.#listEntries().length - attachment.tools.length;
    for (const [index, tool] of tools.entries()) {
      for (const name of listNames(tool)) {
        const other = byName.get(name) ?? (this.#parent ? this.#parent.#findEntry(name) : undefined);
        if (other) throw createNameTakenError(name, other.source, attachment.source);
        byName.set(name, { tool, source: attachment.source });
      }
      if (others + index >= maxTools) {
        const added = `“${tool.name}” from ${attachment.source.name}`;
        throw fail("conflict", `Cannot add ${added}: an agent can have at most ${maxTools} tools.`);
      }
    }
    this.#byName = byName;
    attachment.tools = tools;
    this.#definitions = undefined;
  }

  /** A taken name is an error in a fixed source, but skipped in an optional one, which may change at any time. */
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
        console.error(`skipped the tool ${taken} of ${attachment.source.name}: its name is taken`);
      return taken === undefined;
    });
  }
}

function createNameTakenError(name: string, first: ToolSource, second: ToolSource): Error {
  return fail(
    "conflict",
    `Two tools are named “${name}”: one is from ${first.name}, the other from ${second.name}. Rename one.`,
  );
}

function listTools(source: ToolSource): readonly Tool[] | Promise<readonly Tool[]> {
  const listed = source.list();
  if (!(listed instanceof Promise) || !source.optional) return listed;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const message = `no response within ${maxListSeconds} s`;
    timer = setTimeout(() => reject(new Error(message)), maxListSeconds * 1000);
  });
  return Promise.race([listed, timeout]).finally(() => clearTimeout(timer));
}

function logFailure({ name }: ToolSource, error: unknown): void {
  console.error(`cannot list the tools of ${name}: ${error instanceof Error ? error.message : String(error)}`);
}

const listNames = ({ name, aliases = [] }: Tool) => [name, ...aliases];

// A malformed tool would make model calls fail, with no hint at the cause.
function isTool(tool: Partial<Tool> | undefined): tool is Tool {
  const { name, aliases = [], description, inputSchema, execute } = tool ?? {};
  return (
    [name, ...aliases].every((value) => typeof value === "string" && toolNameRule.pattern.test(value)) &&
    typeof description === "string" &&
    typeof inputSchema?.safeParse === "function" &&
    typeof execute === "function"
  );
}

function checkShape(tool: Partial<Tool> | undefined): void {
  if (isTool(tool)) return;
  const label = typeof tool?.name === "string" ? `“${tool.name.slice(0, 100)}”` : "The registered value";
  throw new Error(`${label} is not a tool. Create it with defineTool.`);
}

/** Caches a pure function; an entry lives as long as its tool. */
const definitionCache = new WeakMap<Tool, ToolDefinition>();

function toDefinition(tool: Tool): ToolDefinition {
  let definition = definitionCache.get(tool);
  if (!definition) {
    definition = { name: tool.name, description: tool.description, parameters: tool.parameters ?? toParameters(tool) };
    definitionCache.set(tool, definition);
  }
  return definition;
}

function toParameters({ inputSchema }: Tool): Record<string, unknown> {
  const { $schema: _, ...parameters } = z.toJSONSchema(inputSchema, { io: "input", unrepresentable: "any" });
  return parameters;
}
