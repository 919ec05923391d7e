import { defineTool, type Tool } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { coreTools } from "./core.ts";
import { checkSubagentStatus } from "./subagents/check-subagent-status.ts";
import { delegateToSubagent } from "./subagents/delegate-to-subagent.ts";
import { task } from "./subagents/task.ts";
import { waitForSubagents } from "./subagents/wait-for-subagents.ts";
import { completeTask } from "./tasks/complete-task.ts";
import { createSubtask } from "./tasks/create-subtask.ts";
import { listTasks } from "./tasks/list-tasks.ts";
import { createStaticSource, MutableToolSource, type ToolSource } from "./tool-source.ts";
import { createCoreSource, Toolbox } from "./toolbox.ts";

const readFile = defineTool(
  { name: "readFile", aliases: ["read_file"], description: "Reads.", inputSchema: z.object({ path: z.string() }) },
  () => "",
);

test("a tool is found by its name and by its aliases", () => {
  const box = new Toolbox([createStaticSource("the test", [readFile])]);
  expect(box.find("readFile")).toBe(readFile);
  expect(box.find("read_file")).toBe(readFile);
  expect(box.find("rm")).toBeUndefined();
});

test("the error for an unknown tool suggests a similar name and lists all tools", () => {
  const message = new Toolbox([createStaticSource("the test", [readFile])]).describeUnknown("readfile_");
  expect(message).toMatch(/Did you mean read/);
  expect(message).toContain("Available tools: readFile.");
});

test("definitions are JSON schemas and identical every time", () => {
  const first = JSON.stringify(new Toolbox([createCoreSource(coreTools)]).definitions());
  expect(JSON.stringify(new Toolbox([createCoreSource(coreTools)]).definitions())).toBe(first);
  expect(JSON.parse(first)).toContainEqual(
    expect.objectContaining({
      name: "set_title",
      parameters: expect.objectContaining({ type: "object", required: ["title"] }),
    }),
  );
});

test("two tools with the same name are an error that names both sources", () => {
  const other = defineTool({ name: "read_file", description: "Reads too.", inputSchema: z.object({}) }, () => "");
  const sources = [createStaticSource("the system", [readFile]), createStaticSource("the middleware “files”", [other])];
  expect(() => new Toolbox(sources)).toThrow(
    "Two tools are named “read_file”: one is from the system, the other from the middleware “files”. Rename one.",
  );
});

test("tools added to a toolbox do not appear in its parent", () => {
  const box = new Toolbox([createCoreSource(coreTools)]);
  const copy = new Toolbox([], box);
  copy.register(readFile, "the test");
  expect(copy.definitions().map(({ name }) => name)).toEqual(["set_title", "readFile"]);
  expect(box.find("readFile")).toBeUndefined();
  expect(box.definitions()).toHaveLength(1);
});

test("a tool registered at run time is validated and can be removed", () => {
  const box = new Toolbox([createCoreSource(coreTools)]);
  expect(box.register(readFile, "the test")).toMatchObject({ name: "readFile", parameters: { type: "object" } });
  box.remove(readFile);
  expect(box.find("read_file")).toBeUndefined();
  expect(box.definitions().map(({ name }) => name)).toEqual(["set_title"]);
  box.register(readFile, "the test");
  for (const junk of [
    undefined,
    {},
    { ...readFile, name: "no name" },
    { ...readFile, name: "other", aliases: ["-"] },
    { ...readFile, name: "other", execute: 5 },
  ]) {
    expect(() => box.register(junk as never, "the test")).toThrow("Create it with defineTool.");
  }
  expect(box.definitions()).toHaveLength(2);
});

test("the number of tools is limited", () => {
  const many = Array.from({ length: 256 }, (_, number) => ({ ...readFile, name: `tool_${number}`, aliases: [] }));
  const box = new Toolbox([createStaticSource("the test", many)]);
  expect(() => box.register(readFile, "the middleware “files”")).toThrow(
    "Cannot add “readFile” from the middleware “files”: an agent can have at most 256 tools.",
  );
});

/** An asynchronous source whose list a test sets. */
function createChangingSource(tools: Tool[], more: Partial<ToolSource> = {}) {
  let notify = () => {};
  const source: ToolSource = {
    name: "a server",
    optional: true,
    list: async () => [...tools],
    subscribe(onChange) {
      notify = onChange;
      return () => (notify = () => {});
    },
    ...more,
  };
  return { source, notify: () => notify() };
}

const createNamed = (name: string) => ({ ...readFile, name, aliases: [] });
const listNames = (box: Toolbox) => box.definitions().map(({ name }) => name);

test("a change of an asynchronous source makes the toolbox and its children stale until refreshed", async () => {
  const tools = [createNamed("one")];
  const { source, notify } = createChangingSource(tools);
  const box = await Toolbox.load([createCoreSource(coreTools), source]);
  const child = new Toolbox([createStaticSource("the props", [createNamed("own")])], box);
  expect([listNames(box), listNames(child), child.isStale]).toEqual([
    ["set_title", "one"],
    ["set_title", "one", "own"],
    false,
  ]);
  tools.push(createNamed("two"));
  notify();
  expect([box.isStale, child.isStale, listNames(child)]).toEqual([true, true, ["set_title", "one", "own"]]);
  await child.refresh();
  expect([child.isStale, listNames(child), child.find("two")?.name]).toEqual([
    false,
    ["set_title", "one", "two", "own"],
    "two",
  ]);
  box.close();
  notify();
  expect(box.isStale).toBe(false);
});

test("malformed tools and taken names of an optional source are skipped", async () => {
  const tools = [createNamed("set_title"), createNamed("one"), createNamed("one"), { name: "no tool" } as Tool];
  const { source, notify } = createChangingSource(tools);
  const box = await Toolbox.load([createCoreSource(coreTools), source]);
  expect(listNames(box)).toEqual(["set_title", "one"]);
  tools.unshift(createNamed("two"));
  notify();
  await box.refresh();
  expect(listNames(box)).toEqual(["set_title", "two", "one"]);
});

test("a failed source keeps its tools and is retried on request", async () => {
  let list: () => Promise<Tool[]> = () => Promise.reject(new Error("down"));
  const { source, notify } = createChangingSource([], { list: () => list() });
  const box = await Toolbox.load([source]);
  expect(listNames(box)).toEqual([]);
  list = async () => [createNamed("one")];
  await box.refresh();
  expect(listNames(box)).toEqual([]);
  await box.refresh({ retryFailed: true });
  expect(listNames(box)).toEqual(["one"]);
  list = () => Promise.reject(new Error("down again"));
  notify();
  await box.refresh();
  expect([listNames(box), box.isStale]).toEqual([["one"], false]);
  await expect(Toolbox.load([{ ...source, optional: false }])).rejects.toThrow("down again");
});

test("a synchronous source is read at once, and adding a taken name throws without adding anything", () => {
  const source = new MutableToolSource("the middleware “files”");
  const box = new Toolbox([createCoreSource(coreTools), source]);
  source.add(readFile);
  expect(listNames(box)).toEqual(["set_title", "readFile"]);
  expect(() => source.add(createNamed("set_title"))).toThrow(
    "one is from the core, the other from the middleware “files”",
  );
  expect([source.list().length, listNames(box)]).toEqual([1, ["set_title", "readFile"]]);
  source.remove(readFile);
  expect(listNames(box)).toEqual(["set_title"]);
});

test("a tool the parent gains does not replace one of the child", async () => {
  const tools: Tool[] = [];
  const { source, notify } = createChangingSource(tools);
  const box = await Toolbox.load([source]);
  const child = new Toolbox([], box);
  const own = createNamed("same");
  child.register(own, "the middleware “m”");
  tools.push(createNamed("same"));
  notify();
  await child.refresh();
  expect([listNames(child), child.find("same")]).toEqual([["same"], own]);
});

test("tools on demand are offered once their group is enabled, and can be called before", () => {
  const rare = defineTool(
    { name: "rare", description: "Rare.", inputSchema: z.object({}), onDemand: "tasks" },
    () => "",
  );
  const base = new Toolbox([createStaticSource("the test", [readFile, rare])]);
  const names = (box: Toolbox) => box.definitions().map(({ name }) => name);
  const [turn, other] = [new Toolbox([], base), new Toolbox([], base)];
  expect(names(turn)).toEqual(["readFile"]);
  expect(turn.find("rare")).toBe(rare);
  turn.enable("tasks");
  expect(names(turn)).toEqual(["readFile", "rare"]);
  expect(turn.definitions()).toBe(turn.definitions());
  expect([names(base), names(other)]).toEqual([["readFile"], ["readFile"]]);
  base.enable("tasks");
  expect(names(other)).toEqual(["readFile", "rare"]);
});

test("the tools of tasks and sub-agents add at most 1.5 KB to a turn of two model calls", () => {
  const ofTasks = [createSubtask, listTasks, completeTask];
  const ofSubagents = [task, delegateToSubagent, checkSubagentStatus, waitForSubagents];
  const box = new Toolbox([createStaticSource("the test", [...ofTasks, ...ofSubagents])]);
  const asOpenAi = box.definitions().map((definition) => ({ type: "function", function: definition }));
  expect(asOpenAi.map(({ function: { name } }) => name)).toEqual(["createSubtask", "task"]);
  expect(2 * JSON.stringify(asOpenAi).length).toBeLessThan(1536);
});
