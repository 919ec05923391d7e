import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

// The direction of imports is a rule only as long as something stops who breaks it.

const root = fileURLToPath(new URL("..", import.meta.url));

async function lint(path: string, source: string): Promise<string> {
  const file = root + path;
  onTestFinished(() => rm(file, { force: true }));
  await writeFile(file, source);
  return new Promise((resolve) =>
    execFile(`${root}node_modules/.bin/oxlint`, ["-c", "oxlint.config.mjs", path], { cwd: root }, (_, stdout) => resolve(stdout)),
  );
}

test.each([
  ["store reaching up to http", "packages/runtime/src/store/breach.ts", 'import "../http/answer.ts";', "Imports only go down"],
  ["an agency reaching up to objects", "packages/runtime/src/agency/breach.ts", 'import "../objects/think.ts";', "Imports only go down"],
  ["the Worker importing the daemon", "packages/runtime/src/http/breach.ts", 'import "../../../daemon/src/main.ts";', "Packages meet"],
  ["the page importing the Worker", "packages/dashboard/src/breach.ts", 'import "@thinkery/runtime/x";', "Packages meet"],
  ["the sdk importing Node", "packages/sdk/src/breach.ts", 'import "node:fs";', "no platform"],
  ["an example importing what is not public", "examples/security-team/src/breach.ts", 'import "@thinkery/sdk/internal";', "not public"],
  ["the daemon starting a process anywhere", "packages/daemon/src/config/breach.ts", 'import "node:child_process";', "start processes"],
])("%s is an error", async (_, path, source, message) => {
  expect(await lint(path, source)).toContain(message);
});
