import { type Tool, ToolError } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { Toolbox } from "../toolbox.ts";
import { deleteFile } from "./delete-file.ts";
import { editFile } from "./edit-file.ts";
import { FilesDouble } from "./files-double.ts";
import { fileTools } from "./files.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { moveFile } from "./move-file.ts";
import { readFile } from "./read-file.ts";
import { writeFile } from "./write-file.ts";

// Behaviour that all file tools share.

test("file tools accept the names and parameters of other systems", async () => {
  const box = new Toolbox([{ name: "a test", list: () => fileTools }]);
  expect(["ls", "read_file", "write_file", "edit_file"].map((name) => box.find(name)?.name)).toEqual([
    "listFiles",
    "readFile",
    "writeFile",
    "editFile",
  ]);
  const files = new FilesDouble();
  await files.call(writeFile, { file_path: "a", content: "one" });
  await files.call(editFile, { file_path: "a", old_string: "one", new_string: "two" });
  await files.call(editFile, { filePath: "a", edits: [{ old_string: "two", new_string: "two two" }] });
  await files.call(editFile, { path: "a", old_string: "two", new_string: "x", replace_all: true });
  expect(files.stored.get("a")).toBe("x x");
  expect(readFile.inputSchema.parse({ path: "a", file_path: "b" })).toEqual({ path: "a" });
  expect(readFile.inputSchema.parse({ file_path: "b", path: "a" })).toEqual({ path: "a" });
});

test("file tools accept values as strings and empty values for unused parameters", async () => {
  const files = new FilesDouble({ a: "one\ntwo\nthree\n" });
  expect(await files.call(readFile, { path: "a", offset: "2", limit: "1" })).toMatch(/^2\ttwo\n/);
  await files.call(editFile, { path: "a", oldString: "one", newString: "1", replaceAll: "false", edits: [] });
  await files.call(editFile, { path: "a", oldString: "two", newString: "2", replaceAll: "true" });
  await files.call(editFile, {
    path: "a",
    oldString: "",
    newString: "",
    edits: [{ oldString: "three", newString: "3" }],
  });
  await files.call(editFile, { path: "a", edits: '[{"old_string": "3", "new_string": "33", "replace_all": "true"}]' });
  expect(files.stored.get("a")).toBe("1\n2\n33\n");
  await files.call(grep, { pattern: "x", path: "", glob: "", context: "2" });
  expect(files.searches).toEqual([{ pattern: "x", limit: 200, context: 2 }]);
});

test("the definitions of file tools are short", () => {
  const definitions = new Toolbox([{ name: "a test", list: () => fileTools }]).definitions();
  expect(JSON.stringify(definitions).length).toBeLessThan(2_560);
  expect(definitions.every(({ parameters }) => (parameters as { type?: string }).type === "object")).toBe(true);
  expect(JSON.stringify(definitions)).not.toContain("file_path");
});

test("file tools log paths and sizes, never content", () => {
  expect(writeFile.redactInput?.({ file_path: "a", content: "secret" })).toEqual({
    path: "a",
    content: "6 characters",
  });
  expect(
    editFile.redactInput?.({ path: "a", oldString: "secret", newString: "", edits: [{ oldString: "secret" }] }),
  ).toEqual({ path: "a", oldString: "6 characters", newString: "0 characters", edits: 1 });
  for (const invalid of [null, "secret", 5]) expect(writeFile.redactInput?.(invalid)).toEqual({});
  expect(readFile.summarize?.("1\tsecret\n2\tx")).toBe("2 lines");
  expect(editFile.summarize?.("Changed a.\n1\tsecret")).toBe("Changed a.");
});

test("policy rules match normalized paths", () => {
  const isDenied = (tool: Tool, match: string, input: unknown) =>
    tool.matchesRule?.(match, tool.inputSchema.parse(input), "deny", tool.name);
  for (const path of ["secrets/a", "/work/secrets/a", "./secrets/a", "x/secrets/a", "SECRETS/a"])
    expect(isDenied(writeFile, "secrets/*", { path, content: "" })).toBe(true);
  expect(isDenied(writeFile, "caf\u00e9", { path: "cafe\u0301", content: "" })).toBe(true);
  expect(isDenied(writeFile, "secrets/*", { path: "a", content: "secrets/b" })).toBe(false);
  expect(isDenied(moveFile, "secrets/*", { from: "a", to: "secrets/a" })).toBe(true);
  expect(isDenied(moveFile, "secrets/key", { from: "secrets", to: "a" })).toBe(true);
  expect(isDenied(deleteFile, "src/secrets/key", { path: "src" })).toBe(true);
  expect(isDenied(glob, "secrets", { pattern: "secrets/*" })).toBe(true);
  const isAllowed = (input: unknown) =>
    moveFile.matchesRule?.("src/*", moveFile.inputSchema.parse(input), "allow", "*");
  expect([
    isAllowed({ from: "src/a", to: "src/b" }),
    isAllowed({ from: "src/a", to: "b" }),
    isAllowed({ from: "SRC/a", to: "src/b" }),
  ]).toEqual([true, false, false]);
});

test.each(fileTools.map((tool) => [tool.name, tool] as const))("%s cannot leave the workspace", async (_, tool) => {
  const files = new FilesDouble({ a: "x" });
  for (const path of ["../a", "/etc/passwd", "a\0b", "C:\\x", "a/../../b", "\ud800"]) {
    const input = {
      path,
      from: path,
      to: "b",
      pattern: tool === glob ? `{${path}}` : "x",
      content: "x",
      oldString: "",
      newString: "y",
    };
    const result = await files.call(tool, input).catch((error: unknown) => error);
    if (tool !== glob) expect(result).toMatchObject({ name: "ThinkeryError", code: "bad_request" });
    expect([...files.stored]).toEqual([["a", "x"]]);
  }
  await expect(files.call(moveFile, { from: "a", to: "../b" })).rejects.toMatchObject({ code: "bad_request" });
});

test("file tools fail with errors for the model", async () => {
  const error = await new FilesDouble().call(readFile, { path: "a" }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ToolError);
  expect(error).toMatchObject({ code: "invalid_input" });
});
