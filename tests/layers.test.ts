import { execFile } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

// Checks that the linter enforces the direction of imports.

const root = fileURLToPath(new URL("..", import.meta.url));

async function lint(path: string, source: string): Promise<string> {
  const file = root + path;
  onTestFinished(() => rm(file, { force: true }));
  await writeFile(file, source);
  return new Promise((resolve) =>
    execFile(`${root}node_modules/.bin/oxlint`, ["-c", "oxlint.config.mjs", path], { cwd: root }, (_, stdout) =>
      resolve(stdout),
    ),
  );
}

test.each([
  [
    "store reaching up to http",
    "packages/runtime/src/store/breach.ts",
    'import "../http/response.ts";',
    "Imports only go down",
  ],
  [
    "an agency reaching up to objects",
    "packages/runtime/src/agency/breach.ts",
    'import "../objects/think.ts";',
    "Imports only go down",
  ],
  [
    "calls reaching up to the loop",
    "packages/runtime/src/turn/calls/breach.ts",
    'import "../loop/running-turn.ts";',
    "turn/calls is below that",
  ],
  [
    "calls reaching up to objects",
    "packages/runtime/src/turn/calls/breach.ts",
    'import "../../objects/think.ts";',
    "Imports only go down",
  ],
  [
    "a workspace reaching across to sandboxes",
    "packages/runtime/src/workspace/breach.ts",
    'import "../sandbox/open.ts";',
    "is in the same row as that",
  ],
  [
    "policy reaching across to the store",
    "packages/runtime/src/policy/breach.ts",
    'import type { X } from "../store/log.ts";',
    "is in the same row as that",
  ],
  [
    "the Worker importing the daemon",
    "packages/runtime/src/http/breach.ts",
    'import "../../../daemon/src/main.ts";',
    "Packages meet",
  ],
  [
    "the page importing the Worker",
    "packages/dashboard/src/breach.ts",
    'import "@thinkery/runtime/x";',
    "Packages meet",
  ],
  ["the sdk importing Node", "packages/sdk/src/breach.ts", 'import "node:fs";', "no platform"],
  [
    "an example importing internals",
    "examples/security-team/src/breach.ts",
    'import "@thinkery/sdk/internal";',
    "not public",
  ],
  [
    "the daemon starting a process from any module",
    "packages/daemon/src/config/breach.ts",
    'import "node:child_process";',
    "start processes",
  ],
])("%s is an error", async (_, path, source, message) => {
  expect(await lint(path, source)).toContain(message);
});

test("a listed import between folders of one layer is allowed", async () => {
  expect(
    await lint(
      "packages/runtime/src/model/breach.ts",
      'import { draining } from "../host/drain.ts";\nexport const x = draining;',
    ),
  ).toContain("0 errors");
});

test("files that import each other's types form a cycle", async () => {
  const other = `${root}packages/runtime/src/turn/breach-two.ts`;
  onTestFinished(() => rm(other, { force: true }));
  await writeFile(other, 'import type { One } from "./breach-one.ts";\nexport type Two = One;\n');
  const source = 'import type { Two } from "./breach-two.ts";\nexport type One = { two: Two };\n';
  expect(await lint("packages/runtime/src/turn/breach-one.ts", source)).toContain("cycle");
});

/** What an agency is made of, and how agents reach theirs. */
const ofAgency = /^(?:agency\/|objects\/(?:agency|assemble-agency|workflow\/)).*\.ts$/;
/** Whatever calls models or runs turns. The redactor only asks which keys there are. */
const ofTurns = /from "(?:\.\.\/)+(?:model\/(?!redactor\.ts)|turn\/(?:loop|calls|admission)\/|drivers\/think\/)[^"]*"/g;

test("no part of an agency imports what calls models or runs turns", async () => {
  const folder = `${root}packages/runtime/src/`;
  const files = (await readdir(folder, { recursive: true })).filter((file) => ofAgency.test(file));
  expect(files.length).toBeGreaterThan(50);
  const found: string[] = [];
  for (const file of files)
    for (const [text] of (await readFile(folder + file, "utf8")).matchAll(ofTurns)) found.push(`${file} ${text}`);
  expect(found).toEqual([]);
});
