import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { createTempFolder } from "../../host/fixture.ts";
import type { Cli } from "../cli.ts";
import { createBundler } from "./bundle.ts";
import { createPackage } from "./create-package.ts";
import { updateTypes } from "./editor-types.ts";
import { addInit } from "./init.ts";
import { readPackage } from "./read-package.ts";
import { templates } from "./templates.ts";

const templateNames = Object.keys(templates);

function create(dir: string, options: { template?: string; force?: boolean; cwd?: string } = {}) {
  const { template = "basic", force = false, cwd = createTempFolder() } = options;
  const read = (name: string) => readFileSync(join(cwd, dir, name), "utf8");
  return { cwd, read, created: createPackage({ cwd, dir, template, force, program: join(cwd, "thinkery.js") }) };
}

test("the command offers every template", () => {
  const group = new Command();
  addInit(group, {} as Cli);
  expect(group.commands[0]?.options.find(({ long }) => long === "--template")?.argChoices).toEqual(templateNames);
});

test.each(templateNames)("the template %s is a package that can be bundled", async (template) => {
  const { cwd, created } = create("my-agent", { template });
  expect((await created).name).toBe("my-agent");
  const source = await readPackage(cwd, "my-agent");
  expect(source).toMatchObject({ name: "my-agent", manifest: { displayName: "My agent" } });
  const bundler = await createBundler(source, "my-agent");
  const { code, warnings } = await bundler.bundle();
  await bundler.close();
  expect(code).toContain('from "/thinkery/sdk.js"');
  expect(warnings).toEqual([]);
});

test("the files are complete, and generated ones are ignored by git", async () => {
  const { created, read } = create("deep/my.notes", { template: "knowledge" });
  expect((await created).files).toEqual([
    "package.json",
    "src/agent.ts",
    "src/agent.test.ts",
    "README.md",
    "tsconfig.json",
    "vitest.config.ts",
    ".gitignore",
  ]);
  expect(read("src/agent.test.ts")).toContain('from "@thinkery/sdk/agent-test"');
  expect(read("src/agent.ts")).toContain("as my_notes__search and my_notes__save");
  expect(read(".gitignore")).toContain(".thinkery/");
  expect(JSON.parse(read("tsconfig.json")).extends).toBe("./.thinkery/tsconfig.json");
  expect(JSON.parse(read(".thinkery/tsconfig.json"))).toEqual({ compilerOptions: {} });
});

test("editors find the SDK of the program that deployed the package last", async () => {
  const { cwd, created, read } = create("hello");
  await created;
  mkdirSync(join(cwd, "dist/sdk"), { recursive: true });
  await updateTypes(join(cwd, "hello"), join(cwd, "dist/thinkery.js"));
  expect(JSON.parse(read(".thinkery/tsconfig.json")).compilerOptions.paths).toEqual({
    "@thinkery/sdk": [join(cwd, "dist/sdk/agent/agent")],
    "@thinkery/sdk/agent": [join(cwd, "dist/sdk/agent/agent")],
    "@thinkery/sdk/agent-test": [join(cwd, "dist/sdk/agent-test/agent-test")],
  });
  // A package that does not ask for it is left alone.
  const other = createTempFolder();
  writeFileSync(join(other, "tsconfig.json"), "{}");
  await updateTypes(other, join(cwd, "dist/thinkery.js"));
  expect(readdirSync(other)).toEqual(["tsconfig.json"]);
});

test("a folder that is not empty is refused, and --force adds only what is missing", async () => {
  const cwd = createTempFolder();
  for (const name of ["a", "b", "c", "d", "e", "f"]) writeFileSync(join(cwd, name), "");
  writeFileSync(join(cwd, "README.md"), "mine");
  await expect(create(".", { cwd }).created).rejects.toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("Refusing to write into “.”: it contains README.md, a, b, c, d and 2 more."),
  });
  const { created, read } = create(".", { cwd, force: true });
  expect((await created).kept).toEqual(["README.md"]);
  expect(read("README.md")).toBe("mine");
  expect(read("src/agent.ts")).toContain("defineAgent");
});

test("a new repository counts as empty; a file, and a name without letters, do not work", async () => {
  const cwd = createTempFolder();
  mkdirSync(join(cwd, "repository/.git"), { recursive: true });
  writeFileSync(join(cwd, "file"), "");
  expect((await create("repository", { cwd }).created).kept).toEqual([]);
  await expect(create("file", { cwd }).created).rejects.toThrow("Cannot use “file”: it is a file.");
  await expect(create("日本", { cwd }).created).rejects.toThrow("no letters");
});
