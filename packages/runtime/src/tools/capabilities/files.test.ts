import type { Tool, ToolContext } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { type Ask, createFileSystem } from "../../sandbox/process/harness/file-system.ts";
import { FilesDouble } from "../files/files-double.ts";
import { fileCapabilities } from "./files.ts";

const findTool = (name: string) => fileCapabilities.find((tool) => tool.name === name) as Tool;

/** What code has, without the sandbox between: everything is JSON on its way, as it is there. */
function code(files: FilesDouble, ran: unknown[] = []) {
  const shell = {
    run: async (...given: unknown[]) => (
      ran.push(given),
      { exitCode: 3, stdout: "out", stderr: "err", notes: [], ms: 5 }
    ),
  };
  const ask: Ask =
    (capability, inputOf, answerOf) =>
    async (...given) => {
      const tool = findTool(capability);
      const input: unknown = tool.inputSchema.parse(JSON.parse(JSON.stringify(inputOf(...given))));
      const answer: unknown = await tool.execute(input, {
        files,
        shell,
        signal: files.ending.signal,
      } as unknown as ToolContext);
      tool.summarize?.(answer);
      return answerOf(JSON.parse(JSON.stringify(answer) ?? "null"));
    };
  return createFileSystem(ask);
}

test("code reads and writes text and bytes as they are", async () => {
  const files = new FilesDouble({
    "a.txt": "Grüße\r\n",
    "x.bin": Uint8Array.of(0, 255, 128),
    long: "x".repeat(200_000),
  });
  const { fs } = code(files);
  expect(await fs.readFile("/work/a.txt")).toBe("Grüße\r\n");
  expect(await fs.readFile("x.bin")).toEqual(Uint8Array.of(0, 255, 128));
  expect(await fs.readFile("long")).toHaveLength(200_000);
  await fs.writeFile("b/c.txt", "new");
  await fs.writeFile("y.bin", Uint8Array.of(1, 0, 2).subarray(1));
  await fs.writeFile("z.bin", Uint8Array.of(0, 9).buffer);
  expect(files.stored.get("b/c.txt")).toBe("new");
  expect(await fs.readFile("y.bin")).toEqual(Uint8Array.of(0, 2));
  expect(await fs.readFile("z.bin")).toEqual(Uint8Array.of(0, 9));
  // A program that writes knows what it does, and a model has seen nothing of it.
  await fs.writeFile("a.txt", "other");
  expect(files.stored.get("a.txt")).toBe("other");
  expect(files.seenHashes.size).toBe(0);
});

test("code lists, asks, moves and deletes", async () => {
  const files = new FilesDouble({ "a/b": "x", c: "yy" });
  const { fs } = code(files);
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
  const ran: unknown[] = [];
  const { bash } = code(new FilesDouble(), ran);
  expect(await bash("ls", { timeoutMs: 5 })).toEqual({ exitCode: 3, stdout: "out", stderr: "err", notes: [] });
  await bash("pwd");
  expect(ran).toEqual([
    ["ls", { timeoutMs: 5 }],
    ["pwd", {}],
  ]);
});

test("what cannot be done is said", async () => {
  const files = new FilesDouble({ "a/b": "x" });
  const { fs } = code(files);
  await expect(fs.readFile("none")).rejects.toThrow("There is no “none” in the workspace.");
  await expect(fs.readFile("a")).rejects.toThrow("“a” is a folder.");
  await expect(fs.writeFile("../x", "y")).rejects.toThrow("cannot be a path in the workspace");
  await expect(fs.move("a", "/etc/x")).rejects.toThrow("cannot be a path in the workspace");
  for (const wrong of [{ text: 5 }, 5, null, undefined, { base64: "?" }])
    await expect(fs.writeFile("x", wrong as never)).rejects.toThrow();
  expect([...files.stored.keys()]).toEqual(["a/b"]);
});

test("the logs have no content, and rules for the tools of a model hold", () => {
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
    expect(findTool(name).matchesRule?.("secrets/*", { path: "/work/secrets/x" }, "deny")).toBe(true);
  expect(findTool("moveFile").matchesRule?.("secrets/*", { from: "a", to: "./secrets/x" }, "deny")).toBe(true);
});
