import type { Tool, ToolContext } from "@thinkery/sdk";
import { type CreateFunction, createFileSystem } from "@thinkery/sdk/agent-host";
import { expect, test } from "vitest";
import { FilesDouble } from "../files/files-double.ts";
import { fileCapabilities } from "./files.ts";

const findTool = (name: string) => fileCapabilities.find((tool) => tool.name === name) as Tool;

/** Creates the API that code gets, without a sandbox: inputs and outputs are sent as JSON, as in a sandbox. */
function createCodeApi(files: FilesDouble, commands: unknown[] = []) {
  const shell = {
    run: async (...args: unknown[]) => (
      commands.push(args),
      { exitCode: 3, stdout: "out", stderr: "err", notes: [], ms: 5 }
    ),
  };
  const createFunction: CreateFunction =
    (capability, toInput, toOutput) =>
    async (...args) => {
      const tool = findTool(capability);
      const input: unknown = tool.inputSchema.parse(JSON.parse(JSON.stringify(toInput(...args))));
      const result: unknown = await tool.execute(input, {
        files,
        shell,
        signal: files.abortController.signal,
      } as unknown as ToolContext);
      tool.summarize?.(result);
      return toOutput(JSON.parse(JSON.stringify(result) ?? "null"));
    };
  return createFileSystem(createFunction);
}

test("code reads and writes text and bytes unchanged", async () => {
  const files = new FilesDouble({
    "a.txt": "Grüße\r\n",
    "x.bin": Uint8Array.of(0, 255, 128),
    long: "x".repeat(200_000),
  });
  const { fs } = createCodeApi(files);
  expect(await fs.readFile("/work/a.txt")).toBe("Grüße\r\n");
  expect(await fs.readFile("x.bin")).toEqual(Uint8Array.of(0, 255, 128));
  expect(await fs.readFile("long")).toHaveLength(200_000);
  await fs.writeFile("b/c.txt", "new");
  await fs.writeFile("y.bin", Uint8Array.of(1, 0, 2).subarray(1));
  await fs.writeFile("z.bin", Uint8Array.of(0, 9).buffer);
  expect(files.stored.get("b/c.txt")).toBe("new");
  expect(await fs.readFile("y.bin")).toEqual(Uint8Array.of(0, 2));
  expect(await fs.readFile("z.bin")).toEqual(Uint8Array.of(0, 9));
  // Code may overwrite any file, and the model has not seen what it wrote.
  await fs.writeFile("a.txt", "other");
  expect(files.stored.get("a.txt")).toBe("other");
  expect(files.seenHashes.size).toBe(0);
});

test("code lists, stats, moves and deletes files", async () => {
  const files = new FilesDouble({ "a/b": "x", c: "yy" });
  const { fs } = createCodeApi(files);
  expect((await fs.list()).map(({ path, size }) => [path, size])).toEqual([
    ["a/b", 1],
    ["c", 2],
  ]);
  expect((await fs.list("a/")).map(({ path }) => path)).toEqual(["a/b"]);
  expect(await Promise.all(["a", "a/b", "c", "d", ".", "/work"].map((path) => fs.exists(path)))).toEqual([
    true,
    true,
    true,
    false,
    true,
    true,
  ]);
  expect(await fs.stat("c")).toMatchObject({ path: "c", kind: "text", size: 2 });
  expect([await fs.stat("a"), await fs.stat("d")]).toEqual([{ path: "a", kind: "folder" }, undefined]);
  await fs.move("c", "e/f");
  await fs.delete("a");
  expect([...files.stored.keys()]).toEqual(["e/f"]);
});

test("code has a shell", async () => {
  const commands: unknown[] = [];
  const { bash } = createCodeApi(new FilesDouble(), commands);
  expect(await bash("ls", { timeoutMs: 5 })).toEqual({ exitCode: 3, stdout: "out", stderr: "err", notes: [] });
  await bash("pwd");
  expect(commands).toEqual([
    ["ls", { timeoutMs: 5 }],
    ["pwd", {}],
  ]);
});

test("errors say what is wrong", async () => {
  const files = new FilesDouble({ "a/b": "x" });
  const { fs } = createCodeApi(files);
  await expect(fs.readFile("none")).rejects.toThrow("There is no “none” in the workspace.");
  await expect(fs.readFile("a")).rejects.toThrow("“a” is a folder.");
  await expect(fs.writeFile("../x", "y")).rejects.toThrow("Invalid path");
  await expect(fs.move("a", "/etc/x")).rejects.toThrow("Invalid path");
  for (const invalid of [{ text: 5 }, 5, null, undefined, { base64: "?" }])
    await expect(fs.writeFile("x", invalid as never)).rejects.toThrow();
  expect([...files.stored.keys()]).toEqual(["a/b"]);
});

test("logs contain no content, and the rules of the model's tools apply", () => {
  const write = findTool("writeFile");
  expect(write.redactInput?.({ path: "a", content: { text: "secret" } })).toEqual({
    path: "a",
    content: "6 characters",
  });
  expect(write.redactInput?.({ path: "a", content: { base64: "c2VjcmV0" } })).toEqual({
    path: "a",
    content: "6 bytes",
  });
  expect(write.redactInput?.({ path: "a", content: "secret", more: "secret" })).toEqual({
    path: "a",
    content: "6 characters",
  });
  expect(findTool("readFile").summarize?.({ text: "secret" })).toBe("6 characters");
  for (const name of ["readFile", "writeFile", "deleteFile"])
    expect(findTool(name).matchesRule?.("secrets/*", { path: "/work/secrets/x" }, "deny", name)).toBe(true);
  expect(findTool("moveFile").matchesRule?.("secrets/*", { from: "a", to: "./secrets/x" }, "deny", "*")).toBe(true);
});
