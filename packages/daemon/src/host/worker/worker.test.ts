import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTempFolder } from "../fixture.ts";
import { libraryVersion, createProject, createWorkerSource, version } from "./fixture.ts";
import { bundleWorker, type InstalledWorker, installWorker } from "./worker.ts";

const worker = createWorkerSource('"hello"');

const getBundleError = (entry: string, hostVersion = version) =>
  bundleWorker(entry, hostVersion).then(
    () => "built",
    (error: { code: string; message: string; details?: unknown }) => error,
  );

test("a Worker is bundled with its imports, and its label changes only with its content", async () => {
  const { entry, folder, write } = createProject({
    "worker.ts": createWorkerSource("word").replace("import", 'import { word } from "./word.ts";\nimport'),
    "word.ts": 'export const word: string = "one";',
  });
  const first = await bundleWorker(entry, version);
  expect(first).toMatchObject({ entry, label: expect.stringMatching(/^own\+[0-9a-f]{8}$/) });
  expect(first.inputs.toSorted()).toEqual([join(folder, "word.ts"), join(folder, "worker.ts")]);
  expect(Buffer.from(first.files[0]?.contents ?? []).toString()).toContain('"one"');
  expect((await bundleWorker(entry, version)).label).toBe(first.label);
  write("word.ts", 'export const word: string = "two";');
  expect((await bundleWorker(entry, version)).label).not.toBe(first.label);
  expect(readdirSync(folder).toSorted()).toEqual(["node_modules", "word.ts", "worker.ts"]);
});

test("a Worker may have the same name as the bundle", async () => {
  const { entry } = createProject({ "main.js": worker.replaceAll(/: (Request|\{ BOOT: unknown \})/g, "") });
  expect(await bundleWorker(entry, version)).toMatchObject({ entry });
});

test("installing a Worker deletes those that are no longer used", async () => {
  const { entry, write } = createProject({ "worker.ts": worker });
  const run = createTempFolder();
  const installed: InstalledWorker[] = [];
  for (const word of ['"a"', '"b"', '"c"']) {
    write("worker.ts", createWorkerSource(word));
    installed.push(await installWorker(await bundleWorker(entry, version), run, installed.slice(-1)));
  }
  const [a, b, c] = installed.map(({ label }) => join(run, "worker", label));
  expect([a, b, c].map((folder) => existsSync(folder ?? ""))).toEqual([false, true, true]);
  expect(installed[2]?.modules[0]).toEqual({ name: "main.js", path: join(c ?? "", "main.js") });
});

test("a missing file and one that cannot be a Worker are refused", async () => {
  const folder = createTempFolder();
  expect(await getBundleError(join(folder, "none.ts"))).toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("There is no file"),
  });
  for (const path of [folder, createProject({ "worker.json": "{}" }).entry]) {
    expect(await getBundleError(path)).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("ends in .ts, .mts, .js, .mjs"),
    });
  }
});

test("parse and resolve errors show their location and source line", async () => {
  const broken = createProject({
    "worker.ts": 'export * from "./more.ts";',
    "more.ts": "const ok = 1;\n  const a b = 1;\n",
  });
  expect(await getBundleError(broken.entry)).toMatchObject({
    code: "bad_request",
    message: `Failed to build the Worker. ${broken.folder}/more.ts:2:11: Expected ";" but found "b"\nconst a b = 1;`,
  });
  const lost = createProject({ "worker.ts": `import "nothing-of-the-sort";\nimport "./none.ts";` });
  expect(await getBundleError(lost.entry)).toMatchObject({
    message: expect.stringContaining(`${lost.entry}:1:8: Could not resolve "nothing-of-the-sort"`),
    details: {
      issues: [expect.anything(), { path: [`${lost.entry}:2:8`], message: expect.stringContaining("./none.ts") }],
    },
  });
});

test("missing exports are named, with the line to add", async () => {
  const { entry } = createProject({ "worker.ts": "export class Think {}\nexport class User {}" });
  expect(await getBundleError(entry)).toMatchObject({
    code: "bad_request",
    message: `${entry} does not export Agency, Supervision, default. Add \`export { Agency, Supervision, handler as default } from "@thinkery/runtime";\`.`,
  });
});

test("a Worker is not bundled without @thinkery/runtime, or with another version of it", async () => {
  const alone = createProject({ "worker.ts": worker }, { installed: false });
  expect(await getBundleError(alone.entry)).toMatchObject({
    code: "bad_request",
    message: `Cannot find @thinkery/runtime from ${alone.folder}. Run \`npm install @thinkery/runtime\` there.`,
  });
  expect(await getBundleError(createProject({ "worker.ts": worker }).entry, "7.0.0+abc")).toMatchObject({
    code: "bad_request",
    message: `The Worker uses @thinkery/runtime ${libraryVersion}, but this is thinkery 7.0.0. Install the same version of both.`,
  });
});
