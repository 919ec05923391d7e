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
import { isolateDriver } from "./drivers/isolate/isolate.ts";
import { thinkDriver } from "./drivers/think/think.ts";
import { createHandler, type HandlerOptions } from "./http/handler.ts";
import { Supervision } from "./http/supervision.ts";
import { filesystem } from "./middleware/filesystem.ts";
import { planning } from "./middleware/planning.ts";
import { schedules } from "./middleware/schedules.ts";
import { subagents } from "./middleware/subagents.ts";
import { tasks } from "./middleware/tasks.ts";
import { team } from "./middleware/team.ts";
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
  /** Model of agents whose blueprint, class and props name none. Defaults to what the host finds. */
  defaultModel?: string;
  /** Custom models, in addition to those of the built-in providers. */
  provider?: ModelProvider;
  handlerOptions?: HandlerOptions;
}

/** A blueprint with a type-checked config: it accepts the keys of the middleware added so far. */
export type AgentBlueprint<Config extends object> = Omit<NewBlueprint, "config"> & {
  config?: BlueprintConfig & Partial<Config>;
};

/** What a Worker exports: its Durable Objects under these names, and the handler as the default. */
export interface WorkerExports {
  Think: ReturnType<typeof createThinkClass>;
  Agency: ReturnType<typeof createAgencyClass>;
  User: typeof User;
  Supervision: typeof Supervision;
  handler: ReturnType<typeof createHandler>;
}

/**
 * Defines the tools, middleware, blueprints and drivers available to agents, and builds a Worker from them. The stock
 * host is built with it too.
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
  readonly #drivers: DriverDefinition[] = [thinkDriver, isolateDriver];

  constructor(options: AgentSystemOptions = {}) {
    this.#options = options;
    this.#blueprints.set(defaultBlueprint.name, defaultBlueprint);
  }

  /** Adds the stock tools and middleware under the tag `default`; those that few agents need have tags of their own. */
  defaults(): this {
    this.#add(planning as Middleware<never>, []);
    this.#add(tasks as Middleware<never>, []);
    this.#add(filesystem as Middleware<never>, []);
    this.#add(subagents as Middleware<never>, []);
    this.#add(schedules as Middleware<never>, []);
    this.#add(team as Middleware<never>, []);
    for (const tool of stockTools) this.addTool(tool);
    this.addTool(serveApp, ["apps"]);
    return this;
  }

  /** Adds a tool for agents whose blueprint shares a tag with it. The tag is `default` unless tags are given. */
  addTool(tool: Tool, tags: readonly string[] = ["default"]): this {
    const other = this.#tools.find(({ value }) => value.name === tool.name);
    if (other) {
      throw new Error(
        `Two tools are named “${tool.name}”: “${shortenDescription(other.value)}” with the tags ${other.tags.join(", ")}, and “${shortenDescription(tool)}” with ${tags.join(", ")}. Rename one.`,
      );
    }
    if (tags.length === 0)
      throw new Error(`The tool “${tool.name}” has no tags, so no agent could use it. Pass at least one.`);
    this.#tools.push({ value: tool, tags });
    return this;
  }

  /**
   * Adds a source of tools that may change while the Worker runs, such as those of a server, for agents whose blueprint
   * shares a tag with it. Created once per agent. If it fails, the agent runs without its tools.
   */
  addToolSource(create: ToolSourceFactory, tags: readonly string[] = ["default"]): this {
    if (tags.length === 0) throw new Error("The tool source has no tags, so no agent could use it. Pass at least one.");
    this.#toolSources.push({ value: create, tags });
    return this;
  }

  /** Adds a middleware for agents whose blueprint shares a tag with it: one of its own tags, or one given here. */
  use<Seen extends object, Added extends object>(
    middleware: Middleware<Seen, Added>,
    tags: readonly string[] = [],
  ): AgentSystem<Config & Added> {
    this.#add(middleware as Middleware<never>, tags);
    return this as unknown as AgentSystem<Config & Added>;
  }

  /** Adds a static blueprint. Agencies can override it. */
  addAgent(blueprint: AgentBlueprint<Config>): this {
    const parsed = blueprintSchema.safeParse(blueprint);
    if (!parsed.success)
      throw new Error(`The blueprint “${blueprint.name}”: ${createValidationError("blueprint", parsed.error).message}`);
    const { data } = parsed;
    const other = this.#blueprints.get(data.name);
    if (other && other !== defaultBlueprint) throw new Error(`Two blueprints are named “${data.name}”. Rename one.`);
    this.#blueprints.set(data.name, data);
    return this;
  }

  /** Adds a driver, which agents and blueprints select with `driver`. */
  addDriver(driver: DriverDefinition): this {
    if (this.#drivers.some(({ name }) => name === driver.name)) {
      throw new Error(`Two drivers are named “${driver.name}”. Rename one.`);
    }
    const issue = findNameIssue(nameRules.driver, driver.name);
    if (issue) throw new Error(`“${driver.name}” is not a valid driver name: ${issue}.`);
    this.#drivers.push(driver);
    return this;
  }

  /** Returns the Worker's Durable Objects and handler. Throws if the system is not valid, before anything runs. */
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

  #add(middleware: Middleware<never>, extraTags: readonly string[]): void {
    const { name } = middleware;
    if (this.#middleware.some(({ value }) => value.name === name))
      throw new Error(`Two middlewares are named “${name}”. Rename one.`);
    const tags = [...new Set([...(middleware.tags ?? []), ...extraTags])];
    if (tags.length === 0)
      throw new Error(
        `The middleware “${name}” has no tags, so no agent could use it. Add one: .use(${name}, ["default"]).`,
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
    // Regardless of tags: a blueprint stored later may combine any of them.
    collectTools(system);
    for (const blueprint of system.blueprints) this.#check(system, blueprint);
    return system;
  }

  #check(system: System, blueprint: Blueprint): void {
    // The default blueprint exists even in a system that has nothing under its tag.
    const [warning] = blueprint === defaultBlueprint ? [] : findWarnings(system, blueprint);
    if (warning) throw new Error(`The blueprint “${blueprint.name}”: ${warning}`);
    checkBlueprint(system, blueprint);
  }
}

// The Agents SDK looks classes up by name, so each must be named like its export.
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
