import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// File tools end to end: from the model's call to the workspace, its history and the logs.

let testbed: Testbed;

const call = (tool: string, input: object) => ({ call: { tool, input } });
const last = { text: "{{ results.0 }}" };

beforeAll(async () => {
  testbed = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    config: { sandboxSlots: 1, maxFailuresPerMinute: 1000, turn: { hookTimeoutSeconds: 30 } },
    scripts: {
      default: [
        {
          when: "/^make/",
          steps: [
            call("writeFile", { path: "src/a.ts", content: "export const secret = 1;\nexport const b = 2;\n" }),
            call("edit_file", { path: "/work/src/a.ts", oldString: "b = 2", newString: "b = 3" }),
            call("readFile", { path: "src/a.ts" }),
            { text: "{{ results.2 }}" },
          ],
        },
        { when: "/^read$/", steps: [call("read_file", { path: "notes.md" }), last] },
        {
          when: "/^edit$/",
          steps: [call("editFile", { path: "notes.md", oldString: "second line", newString: "SECOND LINE" }), last],
        },
        {
          when: "/^loosely$/",
          steps: [call("editFile", { path: "notes.md", oldString: "  first line  ", newString: "FIRST" }), last],
        },
        { when: "/^replace$/", steps: [call("writeFile", { path: "notes.md", content: "mine\n" }), last] },
        { when: "/^look$/", steps: [call("readFile", { path: "dot.png" }), last] },
        {
          when: "/^find$/",
          steps: [
            call("glob", { pattern: "*.ts" }),
            call("grep", { pattern: "export const \\w+ = 3" }),
            call("ls", {}),
            { text: "{{ results.0 }}|{{ results.1 }}|{{ results.2 }}" },
          ],
        },
        {
          when: "/^tidy$/",
          steps: [call("moveFile", { from: "src", to: "lib" }), call("deleteFile", { path: "lib/a.ts" }), last],
        },
        { when: "/^create$/", steps: [call("editFile", { path: "new.md", oldString: "", newString: "once\n" }), last] },
        { when: "/^secret$/", steps: [call("writeFile", { path: "./secrets/key", content: "x" }), last] },
        { steps: [call("executeCode", { code: "{{ message }}" }), last] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

async function runAndGetResult(agent: TestAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect(type).toBe("agent.completed");
  return (data as { result: string }).result;
}

const createHeaders = () => ({ authorization: `Bearer ${testbed.host().token}` });
const buildFileUrl = (agent: TestAgent, path: string) => `${testbed.host().url}${agent.at}/files/${path}`;
const put = async (agent: TestAgent, path: string, body: string | Uint8Array) =>
  expect(
    (await fetch(buildFileUrl(agent, path), { method: "PUT", headers: createHeaders(), body: body as BodyInit })).ok,
  ).toBe(true);
const read = async (agent: TestAgent, path: string) => {
  const response = await fetch(buildFileUrl(agent, path), { headers: createHeaders() });
  return response.ok ? response.text() : response.status;
};

test("a model writes, edits and reads files; each change is a version with its call, and logs contain no content", async () => {
  const agent = await testbed.newAgent();
  expect(await runAndGetResult(agent, "make")).toBe("1\texport const secret = 1;\n2\texport const b = 3;");
  expect(await read(agent, "src/a.ts")).toBe("export const secret = 1;\nexport const b = 3;\n");
  const { body } = await testbed.api(`${agent.at}/versions`);
  expect(body.versions.map(({ origin, changes }: any) => [origin.tool, changes[0].kind])).toEqual([
    ["editFile", "edit"],
    ["writeFile", "add"],
  ]);
  const calls = (await agent.messages()).flatMap(({ toolCalls = [] }: any) => toolCalls.map(({ id }: any) => id));
  expect(calls).toEqual(expect.arrayContaining(body.versions.map(({ origin }: any) => origin.toolCall)));
  const { body: log } = await testbed.api(`${agent.at}/actions`);
  expect(log.actions.map(({ tool, action, success }: any) => [tool, action, success])).toEqual(
    expect.arrayContaining([
      ["writeFile", "write", true],
      ["editFile", "edit", true],
      ["readFile", "read", true],
    ]),
  );
  expect(JSON.stringify(log)).not.toContain("secret");
  expect(await runAndGetResult(agent, "find")).toBe("src/a.ts|src/a.ts\n2\texport const b = 3;|src/a.ts (45 bytes)");
  expect(await runAndGetResult(agent, "tidy")).toBe("Moved src to lib, 1 file.");
  expect((await testbed.api(`${agent.at}/files`)).body.files).toEqual([]);
});

test("a user's later changes are not overwritten, and text that is still there can be edited", async () => {
  const agent = await testbed.newAgent();
  await put(agent, "notes.md", "first line\nsecond line\n");
  expect(await runAndGetResult(agent, "edit")).toContain("You have not read “notes.md” yet");
  expect(await runAndGetResult(agent, "replace")).toContain("already exists and you have not read it");
  expect(await runAndGetResult(agent, "read")).toBe("1\tfirst line\n2\tsecond line");
  await put(agent, "notes.md", "first line\nsecond line\nthird, by a person\n");
  expect(await runAndGetResult(agent, "replace")).toContain("has changed since you read it");
  expect(await runAndGetResult(agent, "loosely")).toContain("has changed since you read it");
  expect(await runAndGetResult(agent, "edit")).toMatch(
    /^Changed notes\.md\. “notes\.md” has changed since you read it\..*\n1\tfirst line\n2\tSECOND LINE\n3\tthird, by a person$/,
  );
  expect(await read(agent, "notes.md")).toBe("first line\nSECOND LINE\nthird, by a person\n");
  await runAndGetResult(agent, "read");
  expect(await runAndGetResult(agent, "loosely")).toContain("Changed notes.md.");
  expect(await runAndGetResult(agent, "replace")).toContain("Changed notes.md: 1 line added, 3 removed.");
});

test("which files were read is remembered after a restart", async () => {
  const agent = await testbed.newAgent();
  await put(agent, "notes.md", "second line\n");
  await runAndGetResult(agent, "read");
  await testbed.restartMain();
  expect(await runAndGetResult(agent, "edit")).toBe("Changed notes.md.\n1\tSECOND LINE");
});

test("a change made before main died is not repeated, even if its hooks were still running", async () => {
  const blueprint = await testbed.newBlueprint({
    tags: ["default", "puppet"],
    config: { puppet: { onToolResult: "hang" } },
  });
  const agent = await testbed.newAgent({ blueprint });
  const { runId } = await agent.invoke({ message: "create" });
  await waitUntil("the file", async () => (await read(agent, "new.md")) === "once\n");
  await testbed.restartMain();
  await agent.waitForEnd(runId, 40_000);
  const ends = (await agent.log()).flatMap(({ type, data }: any) =>
    type === "tool.error" || type === "tool.output" ? [data.errorCode ?? data.output] : [],
  );
  expect(ends).toEqual(["Created new.md.\n1\tonce"]);
  expect((await testbed.api(`${agent.at}/versions`)).body.versions).toHaveLength(1);
});

test("an image is returned as an image", async () => {
  const agent = await testbed.newAgent();
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  await put(agent, "dot.png", png);
  expect(await runAndGetResult(agent, "look")).toBe(`[image: dot.png, image/png, ${png.length} bytes]`);
  const outputs = (await agent.log()).flatMap(({ type, data }: any) => (type === "tool.output" ? [data.result] : []));
  expect(outputs).toEqual([expect.objectContaining({ mediaType: "image/png", blob: expect.any(String) })]);
});

test("code can use files too, and the policy rules of the file tools apply there", async () => {
  const blueprint = await testbed.newBlueprint({
    tags: ["default"],
    config: {
      policy: [
        { tool: "writeFile", match: "secrets/*", action: "deny" },
        { tool: "deleteFile", action: "deny" },
      ],
    },
  });
  const agent = await testbed.newAgent({ blueprint });
  expect(
    await runAndGetResult(
      agent,
      `await fs.writeFile("lib/twice.ts", "export const twice = (n: number) => n * 2;"); return (await fs.list()).map((file) => file.path)`,
    ),
  ).toBe('["lib/twice.ts"]');
  expect(
    await runAndGetResult(
      agent,
      `import { twice } from "./lib/twice.ts"; return [twice(21), await fs.exists("lib"), await fs.exists("none"), (await bash("wc -l < lib/twice.ts")).stdout.trim()]`,
    ),
  ).toBe('[42,true,false,"0"]');
  expect(
    await runAndGetResult(
      agent,
      `await fs.writeFile("x.bin", new Uint8Array([0, 255])); return [...(await fs.readFile("x.bin"))]`,
    ),
  ).toBe("[0,255]");
  expect(await runAndGetResult(agent, `await fs.move("x.bin", "y.bin"); return (await fs.stat("y.bin")).size`)).toBe(
    "2",
  );
  expect(await runAndGetResult(agent, `await fs.readFile("none")`)).toMatch(
    /There is no “none” in the workspace\.\n\s+at code:1:\d+/,
  );
  expect(await runAndGetResult(agent, "secret")).toContain("denies writeFile");
  for (const path of ["secrets/key", "/work/secrets/key", "./secrets/key"])
    expect(await runAndGetResult(agent, `await fs.writeFile(${JSON.stringify(path)}, "x")`)).toContain(
      "denies writeFile",
    );
  expect(
    await runAndGetResult(agent, `await tools.writeFile({ file_path: "/work/secrets/key", content: "x" })`),
  ).toContain("denies writeFile");
  expect(await runAndGetResult(agent, `await fs.delete("y.bin")`)).toContain("denies deleteFile");
  expect((await testbed.api(`${agent.at}/files`)).body.files.map(({ path }: any) => path)).toEqual([
    "lib/twice.ts",
    "y.bin",
  ]);
});

test("files that may not be read can be neither imported nor found by a search", async () => {
  const blueprint = await testbed.newBlueprint({
    tags: ["default"],
    config: {
      policy: [
        { tool: "readFile", match: "secrets/", action: "deny" },
        { tool: "grep", match: ".env", action: "ask" },
      ],
    },
  });
  const agent = await testbed.newAgent({ blueprint });
  await put(agent, "secrets/key.ts", "export const key = 1;\n");
  await put(agent, "src/.env", "export const key = 2\n");
  await put(agent, "src/own.ts", "export const key = 3;\n");
  for (const path of ["./secrets/key.ts", "./src/../secrets/key", "/work/secrets/key.ts"])
    expect(await runAndGetResult(agent, `const { key } = await import("${path}"); return "got " + key`)).not.toContain(
      "got",
    );
  expect(await runAndGetResult(agent, `import { key } from "./secrets/key.ts"; return key`)).toContain(
    "denies readFile",
  );
  expect(await runAndGetResult(agent, `import { key } from "./src/own.ts"; return key`)).toBe("3");
  expect(await runAndGetResult(agent, `return await tools.grep({ pattern: "key", path: "src" })`)).toBe(
    "src/own.ts\n1\texport const key = 3;",
  );
  expect(await runAndGetResult(agent, "find")).toContain("|secrets/key.ts (22 bytes)");
});
