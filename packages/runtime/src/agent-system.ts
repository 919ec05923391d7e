import {
  type Blueprint,
  type BlueprintConfig,
  blueprintSchema,
  defaultBlueprint,
  createValidationError,
  type Middleware,
  findNameIssue,
  nameRules,
  type NewBlueprint,
  type Tool,
} from "@thinkery/sdk";
import type { DriverDefinition } from "./drivers/driver.ts";
import { thinkDriver } from "./drivers/think/think.ts";
import { createHandler, type HandlerOptions } from "./http/handler.ts";
import { Supervision } from "./http/supervision.ts";
import { filesystem } from "./middleware/filesystem.ts";
import { planning } from "./middleware/planning.ts";
import { Agency } from "./objects/agency.ts";
import { Think } from "./objects/think.ts";
import { User } from "./objects/user.ts";
import {
  checkBlueprint,
  collectTools,
  type ModelProvider,
  type System,
  type Tagged,
  type ToolSourceFactory,
  findWarnings,
} from "./system/system.ts";
import { serveApp } from "./tools/serve-app.ts";
import { stockTools } from "./tools/stock.ts";

export interface AgentSystemOptions {
  /** The model of agents whose blueprint, class and props name none; without it, what the host finds. */
  defaultModel?: string;
  /** Models of one's own, beside those of the providers we know. */
  provider?: ModelProvider;
  handlerOptions?: HandlerOptions;
}

/** A blueprint whose config is checked by the compiler: it may have the keys of the middleware that was added before. */
export type AgentBlueprint<Config extends object> = Omit<NewBlueprint, "config"> & {
  config?: BlueprintConfig & Partial<Config>;
};

/** What a Worker exports: its objects under these names, and the handler as the default. */
export interface WorkerExports {
  Think: ReturnType<typeof createThinkClass>;
  Agency: ReturnType<typeof createAgencyClass>;
  User: typeof User;
  Supervision: typeof Supervision;
  handler: ReturnType<typeof createHandler>;
}

/**
 * Says what agents can be made of, and makes a Worker of it. The stock host is built with it too.
 *
 * ```ts
 * export const { Think, Agency, User, Supervision, handler } = new AgentSystem({ defaultModel: "openai:gpt-4.1-mini" })
 *   .defaults()
 *   .addTool(topIps, ["security"])
 *   .addAgent({ name: "analyst", description: "Reads logs.", prompt: "…", tags: ["security"] })
 *   .export();
 * export default handler;
 * ```
 */
export class AgentSystem<Config extends object = object> {
  readonly #options: AgentSystemOptions;
  readonly #tools: Tagged<Tool>[] = [];
  readonly #toolSources: Tagged<ToolSourceFactory>[] = [];
  readonly #middleware: Tagged<Middleware<never>>[] = [];
  readonly #blueprints = new Map<string, Blueprint>();
  readonly #drivers: DriverDefinition[] = [thinkDriver];

  constructor(options: AgentSystemOptions = {}) {
    this.#options = options;
    this.#blueprints.set(defaultBlueprint.name, defaultBlueprint);
  }

  /** The stock tools and middleware, under the tag `default`; what few agents need under tags of its own. */
  defaults(): this {
    this.#add(planning as Middleware<never>, []);
    this.#add(filesystem as Middleware<never>, []);
    for (const tool of stockTools) this.addTool(tool);
    this.addTool(serveApp, ["apps"]);
    return this;
  }

  /** A tool for the agents whose blueprint shares a tag with it; without tags, for those with `default`. */
  addTool(tool: Tool, tags: readonly string[] = ["default"]): this {
    const other = this.#tools.find(({ value }) => value.name === tool.name);
    if (other) {
      throw new Error(
        `Two tools are named “${tool.name}”: “${shortenDescription(other.value)}” with the tags ${other.tags.join(", ")}, and “${shortenDescription(tool)}” with ${tags.join(", ")}. Rename one.`,
      );
    }
    if (tags.length === 0) throw new Error(`The tool “${tool.name}” has no tags, so no agent could have it.`);
    this.#tools.push({ value: tool, tags });
    return this;
  }

  /**
   * A source of tools that may change while the Worker runs, such as those of a server, for the agents whose blueprint
   * shares a tag with it. Created once per agent. An agent goes without it if it fails.
   */
  addToolSource(create: ToolSourceFactory, tags: readonly string[] = ["default"]): this {
    if (tags.length === 0) throw new Error("The tool source has no tags, so no agent could have it.");
    this.#toolSources.push({ value: create, tags });
    return this;
  }

  /** A middleware for the agents whose blueprint shares a tag with it: one of its own, or one given here. */
  use<Seen extends object, Added extends object>(
    middleware: Middleware<Seen, Added>,
    tags: readonly string[] = [],
  ): AgentSystem<Config & Added> {
    this.#add(middleware as Middleware<never>, tags);
    return this as unknown as AgentSystem<Config & Added>;
  }

  /** A static blueprint; agencies may override it. */
  addAgent(blueprint: AgentBlueprint<Config>): this {
    const parsed = blueprintSchema.safeParse(blueprint);
    if (!parsed.success)
      throw new Error(`The blueprint “${blueprint.name}”: ${createValidationError("blueprint", parsed.error).message}`);
    const { data } = parsed;
    const other = this.#blueprints.get(data.name);
    if (other && other !== defaultBlueprint) throw new Error(`There are two blueprints “${data.name}”.`);
    this.#blueprints.set(data.name, data);
    return this;
  }

  /** A way to compute turns, chosen by the `driver` of an agent or its blueprint. */
  addDriver(driver: DriverDefinition): this {
    if (this.#drivers.some(({ name }) => name === driver.name)) {
      throw new Error(`There is already a driver “${driver.name}”. Rename one.`);
    }
    const problem = findNameIssue(nameRules.driver, driver.name);
    if (problem) throw new Error(`“${driver.name}” cannot be a driver's name: ${problem}.`);
    this.#drivers.push(driver);
    return this;
  }

  /** The Worker's objects and its handler. What cannot work is refused here, before anything runs. */
  export(): WorkerExports {
    const system = this.#build();
    return {
      Think: createThinkClass(system),
      Agency: createAgencyClass(system),
      User,
      Supervision,
      handler: createHandler(system, this.#options.handlerOptions),
    };
  }

  #add(middleware: Middleware<never>, given: readonly string[]): void {
    const { name } = middleware;
    if (this.#middleware.some(({ value }) => value.name === name))
      throw new Error(`There are two middlewares “${name}”. Rename one.`);
    const tags = [...new Set([...(middleware.tags ?? []), ...given])];
    if (tags.length === 0)
      throw new Error(
        `The middleware “${name}” has no tags, so no agent could have it. Give it some: .use(${name}, ["default"]).`,
      );
    this.#middleware.push({ value: middleware, tags });
  }

  #build(): System {
    const { defaultModel, provider } = this.#options;
    const system: System = {
      tools: [...this.#tools],
      toolSources: [...this.#toolSources],
      middleware: [...this.#middleware],
      blueprints: [...this.#blueprints.values()],
      drivers: [...this.#drivers],
      ...(defaultModel ? { defaultModel } : {}),
      ...(provider ? { provider } : {}),
    };
    // Whatever their tags: a blueprint that is stored later may have any of them together.
    collectTools(system);
    for (const blueprint of system.blueprints) this.#check(system, blueprint);
    return system;
  }

  #check(system: System, blueprint: Blueprint): void {
    // The stock blueprint is there even in a system that has nothing under its tag.
    const [warning] = blueprint === defaultBlueprint ? [] : findWarnings(system, blueprint);
    if (warning) throw new Error(`The blueprint “${blueprint.name}”: ${warning}`);
    checkBlueprint(system, blueprint);
  }
}

// The SDK finds classes by name, so they are called what they are exported as.
function createThinkClass(system: System) {
  const subclass = class extends Think {
    protected override getSystem(): System {
      return system;
    }
  };
  Object.defineProperty(subclass, "name", { value: "Think" });
  return subclass;
}

function createAgencyClass(system: System) {
  const subclass = class extends Agency {
    protected override getSystem(): System {
      return system;
    }
  };
  Object.defineProperty(subclass, "name", { value: "Agency" });
  return subclass;
}

function shortenDescription({ description }: Tool): string {
  return description.length > 60 ? `${description.slice(0, 60)}…` : description;
}
