import type { Tool } from "@thinkery/sdk";

/** A source of an agent's tools: the core, tags, the class, props, middleware, or a Worker's own. */
export interface ToolSource {
  /** Used in error messages, for example if two sources have a tool of the same name. */
  readonly name: string;
  /** What lists of tools say about where they come from. Defaults to the name. */
  readonly label?: string;
  /** Whether the agent can work without it: if listing fails, the error is logged and the source is skipped. */
  readonly optional?: boolean;
  list(): readonly Tool[] | Promise<readonly Tool[]>;
  /**
   * Calls back whenever the list has changed; returns an unsubscribe function. A synchronous list is read at once, an
   * asynchronous one before the next step.
   */
  subscribe?(onChange: () => void): () => void;
}

/** A source whose tools never change. */
export function createStaticSource(name: string, tools: readonly Tool[], label = name): ToolSource {
  return { name, label, list: () => tools };
}

/** A source that code can add tools to and remove them from, such as the tools a middleware registers. */
export class MutableToolSource implements ToolSource {
  readonly name: string;
  readonly label: string;
  #tools: readonly Tool[] = [];
  readonly #listeners = new Set<() => void>();

  constructor(name: string, label = name) {
    this.name = name;
    this.label = label;
  }

  list(): readonly Tool[] {
    return this.#tools;
  }

  subscribe(onChange: () => void): () => void {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  }

  /** Throws, and adds nothing, if a subscriber cannot take the tool. */
  add(tool: Tool): void {
    this.#set([...this.#tools, tool]);
  }

  remove(tool: Tool): void {
    if (this.#tools.includes(tool)) this.#set(this.#tools.filter((other) => other !== tool));
  }

  #set(tools: readonly Tool[]): void {
    const previous = this.#tools;
    this.#tools = tools;
    try {
      for (const notify of this.#listeners) notify();
    } catch (error) {
      this.#tools = previous;
      throw error;
    }
  }
}
