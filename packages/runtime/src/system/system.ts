import {
  type Blueprint,
  blueprintSchema,
  createValidationError,
  fail,
  listSubagentTypes,
  type Middleware,
  type Tool,
} from "@thinkery/sdk";
import { findNearest } from "@thinkery/sdk/internal";
import { z } from "zod";
import type { DriverDefinition } from "../drivers/driver.ts";
import { Pipeline } from "../middleware/pipeline.ts";
import type { Model, Usage } from "../model/model.ts";
import { validateRules } from "../policy/validate-rules.ts";
import { coreTools } from "../tools/core.ts";
import { createStaticSource, type ToolSource } from "../tools/tool-source.ts";
import { createCoreSource, Toolbox } from "../tools/toolbox.ts";
import { checkDriver } from "./drivers.ts";

/** A value selected by tags. */
export interface Tagged<T> {
  value: T;
  tags: readonly string[];
}

/** The agent that a source of tools is created for. */
export interface ToolSourceContext {
  /** `agency~agent` */
  agent: string;
  blueprint: Blueprint;
}

export type ToolSourceFactory = (agent: ToolSourceContext) => ToolSource;

/** A custom provider of models: those whose id begins with its name and a colon. */
export interface ModelProvider {
  name: string;
  /** Opens the model with this name, the part of the id after the colon. Throws if there is none. */
  open(model: string): Model | Promise<Model>;
  /** Returns the cost of a call in US dollars, or undefined if it is unknown. */
  getCost?(id: string, usage: Usage): number | undefined;
}

/** Everything available to the agents of a Worker. Fixed when the Worker starts. */
export interface System {
  readonly defaultModel?: string;
  readonly provider?: ModelProvider;
  readonly tools: readonly Tagged<Tool>[];
  /** Sources whose tools may change while the Worker runs. */
  readonly toolSources: readonly Tagged<ToolSourceFactory>[];
  readonly middleware: readonly Tagged<Middleware<never>>[];
  readonly blueprints: readonly Blueprint[];
  readonly drivers: readonly DriverDefinition[];
}

/** Returns the values that share one of these tags, in the order of registration. */
export function selectByTags<T>(all: readonly Tagged<T>[], tags: readonly string[]): T[] {
  return all.filter((entry) => entry.tags.some((tag) => tags.includes(tag))).map(({ value }) => value);
}

/** Creates the tool sources that an agent's blueprint selects, the core tools first. */
export function createToolSources(system: System, agent: ToolSourceContext): ToolSource[] {
  const { tags } = agent.blueprint;
  return [
    createCoreSource(coreTools),
    createStaticSource("the system", selectByTags(system.tools, tags), "tags"),
    ...selectByTags(system.toolSources, tags).map((create) => ({ optional: true, ...bindSource(create(agent)) })),
  ];
}

// A source may be a class instance, whose methods a spread would lose.
function bindSource(source: ToolSource): ToolSource {
  return {
    name: source.name,
    list: () => source.list(),
    ...(source.subscribe ? { subscribe: (onChange) => source.subscribe?.(onChange) ?? (() => {}) } : {}),
    ...(source.optional === undefined ? {} : { optional: source.optional }),
  };
}

/** Creates the middleware pipeline of a blueprint, each with its part of the config. */
export function createPipeline(system: System, { name, tags, config = {} }: Blueprint): Pipeline {
  return new Pipeline(
    selectByTags(system.middleware, tags).map((middleware) => ({
      middleware,
      config: parseConfig(middleware, name, config),
    })),
  );
}

/** Returns all tools, including the core ones. Throws if two have the same name. */
export function collectTools({ tools }: System): Toolbox {
  return new Toolbox([
    createCoreSource(coreTools),
    createStaticSource(
      "the system",
      tools.map(({ value }) => value),
      "tags",
    ),
  ]);
}

/** Throws if a rule is not valid, the driver does not exist, or the config is not valid for a middleware. */
export function checkBlueprint(system: System, blueprint: Blueprint): void {
  validateRules(blueprint.config?.policy ?? [], ["config", "policy"], blueprint.name);
  checkDriver(system.drivers, blueprint.driver, ["driver"]);
  createPipeline(system, blueprint);
  for (const type of listSubagentTypes(blueprint) ?? []) {
    if (typeof type === "string") continue;
    const parsed = blueprintSchema.safeParse(type);
    if (!parsed.success) throw createValidationError("blueprint", parsed.error);
    checkBlueprint(system, parsed.data);
  }
}

/** Warns about probable mistakes: tags that nothing has. */
export function findWarnings(system: System, { tags }: Pick<Blueprint, "tags">): string[] {
  const known = new Set([...system.tools, ...system.toolSources, ...system.middleware].flatMap((entry) => entry.tags));
  return [...new Set(tags)]
    .filter((tag) => !known.has(tag))
    .map((tag) => {
      const suggestion = findNearest(tag, known);
      const available = known.size > 0 ? `Available: ${[...known].sort().join(", ")}.` : "No tags are defined.";
      return `No tool or middleware has the tag “${tag}”${suggestion ? `. Did you mean “${suggestion}”?` : `. ${available}`}`;
    });
}

function parseConfig(middleware: Middleware<never>, blueprint: string, config: Record<string, unknown>): unknown {
  const schema = middleware.configSchema as z.ZodType | undefined;
  if (!schema) return config;
  const parsed = z.object({ config: schema }).safeParse({ config: pickOwnKeys(schema, config) });
  if (parsed.success) return parsed.data.config;
  const { message, details } = createValidationError("blueprint", parsed.error);
  throw fail(
    "bad_request",
    `The config of the blueprint “${blueprint}” is not valid for the middleware “${middleware.name}”. ${message}`,
    details,
  );
}

// Several middlewares share a blueprint's config; a strict schema must not reject the keys of others.
function pickOwnKeys(schema: z.ZodType, config: Record<string, unknown>): Record<string, unknown> {
  const { shape } = schema as { shape?: Record<string, unknown> };
  return shape ? Object.fromEntries(Object.entries(config).filter(([key]) => Object.hasOwn(shape, key))) : config;
}
