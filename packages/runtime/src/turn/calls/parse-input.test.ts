import type { Tool } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { bash } from "../../tools/bash.ts";
import { editFile } from "../../tools/files/edit-file.ts";
import { readFile } from "../../tools/files/read-file.ts";
import { parseInput } from "./parse-input.ts";

test.each<[Tool, object, object]>([
  [readFile, { path: "a", offset: null, limit: null }, { path: "a" }],
  [bash, { command: "ls", timeoutMs: null }, { command: "ls" }],
  [
    editFile,
    { path: "a", old_string: "x", new_string: "y", replace_all: null, edits: null },
    { path: "a", oldString: "x", newString: "y" },
  ],
])("null for an optional field counts as omitted (%#)", (tool, given, input) => {
  expect(parseInput(tool, given)).toEqual({ input });
});

test("a nullable field receives null, and null for a required field is an issue", () => {
  const tool = { inputSchema: z.object({ a: z.string().nullable(), b: z.string().optional() }) } as unknown as Tool;
  expect(parseInput(tool, { a: null })).toEqual({ input: { a: null } });
  expect(parseInput(tool, { a: null, b: null })).toEqual({ issues: expect.stringMatching(/^b: /) });
  expect(parseInput(readFile, { path: null })).toEqual({ issues: expect.stringMatching(/^path: /) });
  expect(parseInput(readFile, null)).toHaveProperty("issues");
});
