import type { Tool } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { bash } from "../tools/bash.ts";
import { editFile } from "../tools/files/edit-file.ts";
import { readFile } from "../tools/files/read-file.ts";
import { inputFor } from "./made-call.ts";

test.each<[Tool, object, object]>([
  [readFile, { path: "a", offset: null, limit: null }, { path: "a" }],
  [bash, { command: "ls", timeoutMs: null }, { command: "ls" }],
  [editFile, { path: "a", old_string: "x", new_string: "y", replace_all: null, edits: null }, { path: "a", oldString: "x", newString: "y" }],
])("null for what may be left out is as if it were (%#)", (tool, given, input) => {
  expect(inputFor(tool, given)).toEqual({ input });
});

test("a tool that takes it gets it, and what is needed is needed", () => {
  const tool = { input: z.object({ a: z.string().nullable(), b: z.string().optional() }) } as unknown as Tool;
  expect(inputFor(tool, { a: null })).toEqual({ input: { a: null } });
  expect(inputFor(tool, { a: null, b: null }).problems).toMatch(/^b: /);
  expect(inputFor(readFile, { path: null }).problems).toMatch(/^path: /);
  expect(inputFor(readFile, null).problems).toBeDefined();
});
