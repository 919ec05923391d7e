import { defineTool, type MockTool, type Tool, type ToolContext } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { attachMocks } from "./agency-tools.ts";
import { createMockTool } from "./mock-tool.ts";
import { createStaticSource, MutableToolSource } from "./tool-source.ts";
import { createCoreSource, Toolbox } from "./toolbox.ts";

const fetchTool = defineTool(
  {
    name: "fetch",
    aliases: ["http_get"],
    description: "Fetches.",
    inputSchema: z.object({ url: z.url() }),
    defaultPolicy: "deny",
    redactInput: () => "hidden",
    matchesRule: (match) => match === "all",
    needsApproval: true,
  },
  () => "real",
);
const rare = defineTool(
  { name: "rare", description: "Rare.", inputSchema: z.object({}), onDemand: "tasks", modelOnly: true },
  () => "real",
);
const title = defineTool({ name: "set_title", description: "Titles.", inputSchema: z.object({}) }, () => "real");

const createBase = () =>
  new Toolbox([createCoreSource([title]), createStaticSource("the system", [fetchTool, rare], "tags")]);

function createBox(mocks: MockTool[], base = createBase()): Toolbox {
  const box = new Toolbox([], base);
  attachMocks(box, { tools: [], mocks });
  return box;
}

const run = (tool: Tool | undefined) => tool?.execute({}, {} as ToolContext);
const listNames = (box: Toolbox) => box.definitions().map(({ name }) => name);
const describe = (box: Toolbox) =>
  box.list().map(({ tool, source, replaces, isOffered }) => [tool.name, source, replaces, isOffered]);

test("every tool is listed with its source, and whether the model is offered it", () => {
  const box = new Toolbox([createStaticSource("the props", [{ ...rare, name: "own" }], "props")], createBase());
  box.register({ ...fetchTool, name: "late", aliases: [] }, "the middleware “m”", "middleware m");
  expect(describe(box)).toEqual([
    ["set_title", "core", undefined, true],
    ["fetch", "tags", undefined, true],
    ["rare", "tags", undefined, false],
    ["own", "props", undefined, false],
    ["late", "middleware m", undefined, true],
  ]);
  box.enable("tasks");
  expect(describe(box).map(([, , , isOffered]) => isOffered)).toEqual([true, true, true, true, true]);
});

test("a mock takes the place of a tool of any source, also under its aliases, and only in its own toolbox", () => {
  const base = createBase();
  const box = createBox(
    [
      { name: "fetch", mock: { status: 200 } },
      { name: "set_title", mock: "titled" },
    ],
    base,
  );
  for (const name of ["fetch", "http_get", " fetch "]) expect(run(box.find(name))).toEqual({ status: 200 });
  expect(run(box.find("set_title"))).toBe("titled");
  expect(run(base.find("fetch"))).toBe("real");
  expect(listNames(box)).toEqual(["set_title", "fetch"]);
  expect(describe(box)).toEqual([
    ["set_title", "mock", "core", true],
    ["fetch", "mock", "tags", true],
    ["rare", "tags", undefined, false],
  ]);
  expect(box.isCore("set_title")).toBe(true);
});

test("a mock of a tool that comes later takes its place then", () => {
  const box = createBox([{ name: "late", description: "Mine.", mock: 1 }]);
  expect([listNames(box), run(box.find("late"))]).toEqual([["set_title", "fetch", "late"], 1]);
  expect(describe(box).at(-1)).toEqual(["late", "mock", undefined, true]);
  const late = { ...fetchTool, name: "late", aliases: ["later"] };
  const definition = box.register(late, "the middleware “m”", "middleware m");
  expect(definition).toMatchObject({ name: "late", description: "Mine." });
  expect(describe(box).at(-1)).toEqual(["late", "mock", "middleware m", true]);
  expect([listNames(box), run(box.find("late")), run(box.find("later"))]).toEqual([
    ["set_title", "fetch", "late"],
    1,
    1,
  ]);
  box.remove(late);
  expect([listNames(box), box.find("later")]).toEqual([["set_title", "fetch", "late"], undefined]);
});

test("a mock follows a tool of the parent that changes", () => {
  const source = new MutableToolSource("a server");
  const box = createBox([{ name: "fetch", mock: 1 }], new Toolbox([source]));
  expect(box.definitions()[0]?.description).toBe("A mock.");
  source.add(fetchTool);
  expect(box.definitions().map(({ description }) => description)).toEqual(["Fetches."]);
  expect(run(box.find("http_get"))).toBe(1);
});

test("a mock by an alias leaves the tool itself alone", () => {
  const box = createBox([{ name: "http_get", mock: "mocked" }]);
  expect([run(box.find("http_get")), run(box.find("fetch"))]).toEqual(["mocked", "real"]);
  expect(listNames(box)).toEqual(["set_title", "fetch", "http_get"]);
});

test("a mock looks like the tool that it replaces, and rules apply to it alike", () => {
  const mock = createMockTool({ name: "fetch", mock: 1 }, fetchTool);
  expect(mock).toMatchObject({ name: "fetch", aliases: ["http_get"], description: "Fetches.", defaultPolicy: "deny" });
  expect(mock.inputSchema.safeParse({ url: "no url" }).success).toBe(false);
  expect([mock.matchesRule?.("all", {}, "deny", "fetch"), mock.redactInput?.({})]).toEqual([true, "hidden"]);
  // It does nothing that somebody would have to approve.
  expect(mock.needsApproval).toBeUndefined();
  expect(createMockTool({ name: "rare", mock: 1 }, rare)).toMatchObject({ onDemand: "tasks", modelOnly: true });
});

test("a mock with parameters of its own accepts those, and no rule is asked about what it does not know", () => {
  const parameters = { type: "object", properties: { id: { type: "number" } }, required: ["id"] };
  const mock = createMockTool({ name: "fetch", description: "Mine.", parameters, mock: 1 }, fetchTool);
  expect(mock).toMatchObject({ description: "Mine.", parameters });
  expect(mock.inputSchema.safeParse({ url: "http://a.example" }).success).toBe(false);
  expect(mock.inputSchema.safeParse({ id: 5 }).success).toBe(true);
  expect([mock.matchesRule, mock.redactInput]).toEqual([undefined, undefined]);
});

test("a mock of nothing accepts any object", () => {
  const mock = createMockTool({ name: "deploy", mock: 1 }, undefined);
  expect(mock.inputSchema.safeParse({ anything: [1] }).success).toBe(true);
  expect(mock.inputSchema.safeParse("text").success).toBe(false);
});
