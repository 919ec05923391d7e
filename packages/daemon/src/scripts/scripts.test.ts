import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openScriptFolders } from "./folders.ts";
import { parseScript } from "./parse.ts";

let folder: string;
let home: string;
let work: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "thinkery-scripts-"));
  [home, work] = [join(folder, "home"), join(folder, "work")];
  await Promise.all([mkdir(home), mkdir(work)]);
});

afterEach(() => rm(folder, { recursive: true }));

const getError = (text: string) => {
  try {
    parseScript("scripts/x.yaml", text);
  } catch (error) {
    return error as Error & { code: string; details: unknown };
  }
  throw new Error("no error");
};

const createTextStep = (text: string) => `- text: ${text}\n`;

test("invalid YAML reports the file and line without quoting the file", () => {
  const error = getError('- text: "secret-thing\n- when: x\n');
  expect(error).toMatchObject({
    code: "bad_request",
    message: expect.stringMatching(/^scripts\/x\.yaml, line \d+, column \d+: invalid YAML/),
  });
  expect(error.message).not.toContain("secret-thing");
  expect(getError("a: [\n").message).toContain("line 2");
});

test("an invalid script reports the line and path of each issue", () => {
  const error = getError("- when: hi\n  steps:\n    - text: hello\n    - txt: oops\n    - call:\n        input: {}\n");
  expect(error.message).toBe("scripts/x.yaml, line 4, column 12: 0.steps.1.txt: unknown field.");
  expect(error.details).toEqual({
    issues: [
      { path: [0, "steps", 1, "txt"], message: "unknown field (line 4, column 12)" },
      { path: [0, "steps", 2, "call", "tool"], message: expect.stringContaining("(line 6, column 9)") },
    ],
  });
  expect(getError("").message).toContain("expected a list of exchanges");
});

test("deeply nested and alias-bomb files are rejected", () => {
  expect(getError("[".repeat(20_000)).code).toBe("bad_request");
  const bomb = [
    "a: &a [x]",
    ...Array.from("bcdefghij", (name, n) => `${name}: &${name} [${Array(10).fill(`*${"abcdefghij"[n]}`).join(", ")}]`),
  ];
  expect(getError(bomb.join("\n")).message).toContain("too many aliases");
});

test("the first folder wins, and changes are picked up immediately", async () => {
  const scripts = openScriptFolders([home, work, join(folder, "not-there")]);
  await writeFile(join(work, "a.yaml"), createTextStep("work"));
  await writeFile(join(work, "b.yml"), createTextStep("b"));
  await writeFile(join(work, "no script.yaml"), createTextStep("c"));
  expect(await scripts.listNames()).toEqual(["a", "b"]);
  const readText = async (name: string) => (await scripts.find(name))?.script.exchanges[0]?.steps[0]?.text;
  expect([await readText("a"), await readText("b"), await readText("c")]).toEqual(["work", "b", undefined]);
  await writeFile(join(home, "a.yaml"), createTextStep("home"));
  expect(await readText("a")).toBe("home");
  await writeFile(join(home, "a.yaml"), createTextStep("home again"));
  expect(await readText("a")).toBe("home again");
  await writeFile(join(home, "a.yaml"), "- nonsense\n");
  await expect(readText("a")).rejects.toThrow("scripts/a.yaml, line 1");
});

test("neither a name nor a symbolic link escapes the folder, and large files are not read", async () => {
  const scripts = openScriptFolders([work]);
  await writeFile(join(folder, "outside.yaml"), createTextStep("outside"));
  for (const name of ["../outside", "..", ".hidden", "a/b", "", "a\0b", "x".repeat(200)]) {
    await expect(scripts.find(name)).rejects.toMatchObject({ code: "bad_request" });
  }
  await symlink(join(folder, "outside.yaml"), join(work, "link.yaml"));
  expect(await scripts.find("link")).toBeUndefined();
  await mkdir(join(work, "folder.yaml"));
  expect(await scripts.find("folder")).toBeUndefined();
  await writeFile(join(work, "big.yaml"), `- text: ${"x".repeat(1024 * 1024)}`);
  await expect(scripts.find("big")).rejects.toMatchObject({ code: "too_large" });
});
