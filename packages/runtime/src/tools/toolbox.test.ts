import { expect, test } from "vitest";
import { z } from "zod";
import { coreTools } from "./core.ts";
import { tool } from "./tool.ts";
import { Toolbox } from "./toolbox.ts";

const readFile = tool({
  name: "readFile",
  aliases: ["read_file"],
  description: "Reads.",
  input: z.object({ path: z.string() }),
  action: "read",
  repeatable: true,
  independent: true,
  run: () => "",
});

test("a tool is found by its name and by its aliases", () => {
  const box = new Toolbox([readFile]);
  expect(box.find("readFile")).toBe(readFile);
  expect(box.find("read_file")).toBe(readFile);
  expect(box.find("rm")).toBeUndefined();
});

test("an unknown tool is answered with the nearest one and the list", () => {
  const answer = new Toolbox([readFile]).unknown("readfile_");
  expect(answer).toMatch(/Did you mean read/);
  expect(answer).toContain("The tools are: readFile.");
});

test("definitions are JSON schemas and byte for byte the same every time", () => {
  const first = JSON.stringify(new Toolbox(coreTools).definitions());
  expect(JSON.stringify(new Toolbox(coreTools).definitions())).toBe(first);
  expect(JSON.parse(first)).toContainEqual(
    expect.objectContaining({ name: "set_title", parameters: expect.objectContaining({ type: "object", required: ["title"] }) }),
  );
});
