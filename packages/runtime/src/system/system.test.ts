import {
  type Blueprint,
  defineMiddleware,
  defineTool,
  isThinkeryError,
  type Middleware,
  type Tool,
} from "@thinkery/sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Random, createRandom } from "../../../../tests/kit/random.ts";
import {
  checkBlueprint,
  createToolSources,
  collectTools,
  createPipeline,
  type System,
  type Tagged,
  findWarnings,
} from "./system.ts";

const words = ["default", "code", "web", "security", "planning", "audit", "x"];
const runs = 500;

const blueprint = (tags: string[], config?: Record<string, unknown>): Blueprint => ({
  name: "random",
  description: "",
  prompt: "",
  tags,
  ...(config ? { config } : {}),
});
const tool = (name: string) => defineTool({ name, description: "For tests.", inputSchema: z.object({}) }, () => "");

function pickSome({ below, chance }: Random, items: readonly string[]): string[] {
  const chosen = items.filter(() => chance(0.3));
  // Duplicates make no difference.
  if (chosen.length > 0 && chance(0.2)) chosen.push(chosen[below(chosen.length)] as string);
  return chosen;
}

const createSeveral = <T>({ below }: Random, max: number, create: (number: number) => T) =>
  Array.from({ length: below(max + 1) }, (_, number) => create(number));

const createTagged = <T>(source: Random, value: T): Tagged<T> => ({
  value,
  tags: [source.pick(words), ...pickSome(source, words)],
});

/** A naive reference implementation: compares every pair of tags. */
const hasSharedTag = ({ tags }: Tagged<unknown>, others: string[]) =>
  tags.flatMap((tag) => others.map((other) => tag === other)).filter(Boolean).length > 0;

test("a blueprint selects exactly what shares a tag with it, in the order of registration", () => {
  const source = createRandom("tags");
  for (let run = 0; run < runs; run++) {
    const system: System = {
      tools: createSeveral(source, 12, (number) => createTagged(source, tool(`tool_${number}`))),
      middleware: createSeveral(source, 8, (number) =>
        createTagged(source, createMiddleware(source, `middleware-${number}`)),
      ),
      blueprints: [],
      toolSources: [],
      drivers: [],
    };
    const chosen = blueprint(pickSome(source, [...words, "nobody's"]));
    const getExpectedNames = <T extends { name: string }>(all: readonly Tagged<T>[]) =>
      all.filter((tagged) => hasSharedTag(tagged, chosen.tags)).map(({ value }) => value.name);

    const tools = createToolSources(system, { agent: "a~b", blueprint: chosen }).flatMap((source) =>
      (source.list() as Tool[]).map(({ name }) => name),
    );
    expect(tools, `SEED=${source.seed}, run ${run}`).toEqual(["set_title", ...getExpectedNames(system.tools)]);

    const pipeline = createPipeline(system, chosen);
    const names = pipeline.entries.map(({ middleware }) => middleware.name);
    expect(names, `SEED=${source.seed}, run ${run}`).toEqual(getExpectedNames(system.middleware));
    const ticks = pipeline.getEntries("onTick").map(({ middleware }) => middleware.name);
    expect(ticks).toEqual(
      names.filter((name) => system.middleware.find(({ value }) => value.name === name)?.value.onTick),
    );

    const known = new Set([...system.tools, ...system.middleware].flatMap(({ tags }) => tags));
    expect(findWarnings(system, chosen)).toHaveLength(new Set(chosen.tags.filter((tag) => !known.has(tag))).size);
  }
});

function createMiddleware({ chance }: Random, name: string): Middleware<never> {
  return defineMiddleware({ name, ...(chance(0.5) ? { onTick() {} } : {}) }) as Middleware<never>;
}

const limits = defineMiddleware({
  name: "limits",
  configSchema: z.strictObject({ limit: z.int().default(7) }),
  onTick() {},
});
const audit = defineMiddleware({
  name: "audit",
  configSchema: z.object({ audit: z.object({ to: z.string() }) }),
  onTick() {},
});
const system: System = {
  tools: [],
  middleware: [
    { value: limits as Middleware<never>, tags: ["limits"] },
    { value: audit as unknown as Middleware<never>, tags: ["audit"] },
  ],
  blueprints: [],
  toolSources: [],
  drivers: [],
};

test("each middleware gets only its own part of the config, parsed", () => {
  const config = { limit: 3, audit: { to: "me", more: 1 }, own: true };
  expect(createPipeline(system, blueprint(["limits", "audit"], config)).entries.map(({ config }) => config)).toEqual([
    { limit: 3 },
    { audit: { to: "me" } },
  ]);
  expect(createPipeline(system, blueprint(["limits"])).entries.map(({ config }) => config)).toEqual([{ limit: 7 }]);
});

test("a config that is not valid for a middleware is rejected with its path and both names", () => {
  const error = (() => {
    try {
      checkBlueprint(system, blueprint(["audit"], { audit: { to: 5 } }));
    } catch (error) {
      if (isThinkeryError(error)) return error;
    }
    throw new Error("It was not rejected.");
  })();
  expect(error).toMatchObject({ code: "bad_request", details: { issues: [{ path: ["config", "audit", "to"] }] } });
  expect(error.message).toMatch(/“random”.*“audit”.*config\.audit\.to/);
});

test("two tools of the same name are rejected, whatever their tags", () => {
  const tagged = (name: string, aliases: string[], tag: string) => ({ value: { ...tool(name), aliases }, tags: [tag] });
  expect(() => collectTools({ ...system, tools: [tagged("read", [], "a"), tagged("open", ["read"], "b")] })).toThrow(
    "Two tools are named “read”",
  );
  expect(() => collectTools({ ...system, tools: [tagged("set_title", [], "a")] })).toThrow("one is from the core");
});
