import { type Blueprint, fail, createValidationError, type Middleware, type Tool } from "@thinkery/sdk";
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

/** Something that is chosen by tags. */
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

/** Models of one's own: ids that begin with its name and a colon are its. */
export interface ModelProvider {
  name: string;
  /** The model that is called so after the colon; throws where there is none. */
  open(model: string): Model | Promise<Model>;
  /** What a call came to, in US dollars; nothing where it is not known. */
  costOf?(id: string, usage: Usage): number | undefined;
}

/** Everything that agents here can be made of. Fixed when the Worker starts. */
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

/** What shares a tag with the blueprint, in the order in which it was added. */
export function selectByTags<T>(all: readonly Tagged<T>[], tags: readonly string[]): T[] {
  return all.filter((entry) => entry.tags.some((tag) => tags.includes(tag))).map(({ value }) => value);
}

/** Creates the sources that an agent has by its blueprint's tags, the core first. */
export function createToolSources(system: System, agent: ToolSourceContext): ToolSource[] {
  const { tags } = agent.blueprint;
  return [
    createCoreSource(coreTools),
    createStaticSource("the system", selectByTags(system.tools, tags)),
    ...selectByTags(system.toolSources, tags).map((create) => ({ optional: true, ...bindSource(create(agent)) })),
  ];
}

// A source may be an instance of a class, whose methods a spread would lose.
function bindSource(source: ToolSource): ToolSource {
  return {
    name: source.name,
    list: () => source.list(),
    ...(source.subscribe ? { subscribe: (onChange) => source.subscribe?.(onChange) ?? (() => {}) } : {}),
    ...(source.optional === undefined ? {} : { optional: source.optional }),
  };
}

/** The middleware of a blueprint, each with its part of the blueprint's config. */
export function createPipeline(system: System, { name, tags, config = {} }: Blueprint): Pipeline {
  return new Pipeline(
    selectByTags(system.middleware, tags).map((middleware) => ({
      middleware,
      config: parseConfig(middleware, name, config),
    })),
  );
}

/** Every tool that any blueprint may come to have, with the core. Throws where two of one name would meet. */
export function collectTools({ tools }: System): Toolbox {
  return new Toolbox([
    createCoreSource(coreTools),
    createStaticSource(
      "the system",
      tools.map(({ value }) => value),
    ),
  ]);
}

/** Throws if a rule cannot be read, the driver does not exist, or a middleware cannot read the config. */
export function checkBlueprint(system: System, blueprint: Blueprint): void {
  validateRules(blueprint);
  checkDriver(system.drivers, blueprint.driver, ["driver"]);
  createPipeline(system, blueprint);
}

/** What is probably not meant: a tag that nothing here has. */
export function findWarnings(system: System, { tags }: Pick<Blueprint, "tags">): string[] {
  const known = new Set([...system.tools, ...system.toolSources, ...system.middleware].flatMap((entry) => entry.tags));
  return [...new Set(tags)]
    .filter((tag) => !known.has(tag))
    .map((tag) => {
      const near = findNearest(tag, known);
      const others = known.size > 0 ? `There are: ${[...known].sort().join(", ")}.` : "There are no tags here.";
      return `No tool or middleware has the tag “${tag}”${near ? `; did you mean “${near}”?` : `. ${others}`}`;
    });
}

function parseConfig(middleware: Middleware<never>, blueprint: string, config: Record<string, unknown>): unknown {
  const schema = middleware.config as z.ZodType | undefined;
  if (!schema) return config;
  const parsed = z.object({ config: schema }).safeParse({ config: pickOwnKeys(schema, config) });
  if (parsed.success) return parsed.data.config;
  const { message, details } = createValidationError("blueprint", parsed.error);
  throw fail(
    "bad_request",
    `The blueprint “${blueprint}” does not suit the middleware “${middleware.name}”. ${message}`,
    details,
  );
}

// A blueprint's config belongs to many; a strict schema must not take the others' keys for mistakes.
function pickOwnKeys(schema: z.ZodType, config: Record<string, unknown>): Record<string, unknown> {
  const { shape } = schema as { shape?: Record<string, unknown> };
  return shape ? Object.fromEntries(Object.entries(config).filter(([key]) => Object.hasOwn(shape, key))) : config;
}
