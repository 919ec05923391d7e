import { defineTool } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { coreTools } from "./core.ts";
import { createStaticSource } from "./tool-source.ts";
import { createCoreSource, Toolbox } from "./toolbox.ts";

const readFile = defineTool(
  { name: "readFile", aliases: ["read_file"], description: "Reads.", input: z.object({ path: z.string() }) },
  () => "",
);

test("a tool is found by its name and by its aliases", () => {
  const box = new Toolbox([createStaticSource("the test", [readFile])]);
  expect(box.find("readFile")).toBe(readFile);
  expect(box.find("read_file")).toBe(readFile);
  expect(box.find("rm")).toBeUndefined();
});

test("an unknown tool is answered with the nearest one and the list", () => {
  const answer = new Toolbox([createStaticSource("the test", [readFile])]).unknown("readfile_");
  expect(answer).toMatch(/Did you mean read/);
  expect(answer).toContain("The tools are: readFile.");
});

test("definitions are JSON schemas and byte for byte the same every time", () => {
  const first = JSON.stringify(new Toolbox([createCoreSource(coreTools)]).definitions());
  expect(JSON.stringify(new Toolbox([createCoreSource(coreTools)]).definitions())).toBe(first);
  expect(JSON.parse(first)).toContainEqual(
    expect.objectContaining({ name: "set_title", parameters: expect.objectContaining({ type: "object", required: ["title"] }) }),
  );
});

test("two tools of one name are refused, and both are named", () => {
  const other = defineTool({ name: "read_file", description: "Reads too.", input: z.object({}) }, () => "");
  const sources = [createStaticSource("the system", [readFile]), createStaticSource("the middleware “files”", [other])];
  expect(() => new Toolbox(sources)).toThrow(
    "Two tools are named “read_file”: one is from the system, the other from the middleware “files”. Rename one.",
  );
});

test("a toolbox gets what is added to it, and its parent does not", () => {
  const box = new Toolbox([createCoreSource(coreTools)]);
  const copy = new Toolbox([], box);
  copy.register(readFile, "the test");
  expect(copy.definitions().map(({ name }) => name)).toEqual(["set_title", "readFile"]);
  expect(box.find("readFile")).toBeUndefined();
  expect(box.definitions()).toHaveLength(1);
});

test("what comes while the agent is at work is looked at first, and can be taken back", () => {
  const box = new Toolbox([createCoreSource(coreTools)]);
  expect(box.register(readFile, "the test")).toMatchObject({ name: "readFile", parameters: { type: "object" } });
  box.remove(readFile);
  expect(box.find("read_file")).toBeUndefined();
  expect(box.definitions().map(({ name }) => name)).toEqual(["set_title"]);
  box.register(readFile, "the test");
  for (const junk of [undefined, {}, { ...readFile, name: "no name" }, { ...readFile, name: "other", aliases: ["-"] }, { ...readFile, name: "other", run: 5 }]) {
    expect(() => box.register(junk as never, "the test")).toThrow("Make it with defineTool.");
  }
  expect(box.definitions()).toHaveLength(2);
});

test("an agent has so many tools and no more", () => {
  const many = Array.from({ length: 256 }, (_, number) => ({ ...readFile, name: `tool_${number}`, aliases: [] }));
  const box = new Toolbox([createStaticSource("the test", many)]);
  expect(() => box.register(readFile, "the middleware “files”")).toThrow("An agent may have 256 tools, and “readFile” from the middleware “files” would be one more.");
});
