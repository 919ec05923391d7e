import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTempFolder } from "../fixture.ts";
import { libraryVersion, createProject, createWorkerSource, version } from "./fixture.ts";
import { bundleWorker, type InstalledWorker, installWorker } from "./worker.ts";

const worker = createWorkerSource('"hello"');

const getRefusal = (entry: string, hostVersion = version) =>
  bundleWorker(entry, hostVersion).then(
    () => "built",
    (error: { code: string; message: string; details?: unknown }) => error,
  );

test("a Worker is bundled with what it imports, under a name that changes with its content only", async () => {
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

test("a Worker that has the name of its own bundle is no trouble", async () => {
  const { entry } = createProject({ "main.js": worker.replaceAll(/: (Request|\{ BOOT: unknown \})/g, "") });
  expect(await bundleWorker(entry, version)).toMatchObject({ entry });
});

test("what is laid for main replaces what nobody uses any more", async () => {
  const { entry, write } = createProject({ "worker.ts": worker });
  const run = createTempFolder();
  const laid: InstalledWorker[] = [];
  for (const word of ['"a"', '"b"', '"c"']) {
    write("worker.ts", createWorkerSource(word));
    laid.push(await installWorker(await bundleWorker(entry, version), run, laid.slice(-1)));
  }
  const [a, b, c] = laid.map(({ label }) => join(run, "worker", label));
  expect([a, b, c].map((folder) => existsSync(folder ?? ""))).toEqual([false, true, true]);
  expect(laid[2]?.modules[0]).toEqual({ name: "main.js", path: join(c ?? "", "main.js") });
});

test("a file that is not there, or cannot be a Worker, is refused", async () => {
  const folder = createTempFolder();
  expect(await getRefusal(join(folder, "none.ts"))).toMatchObject({
    code: "bad_request",
    message: expect.stringContaining("There is no file"),
  });
  for (const path of [folder, createProject({ "worker.json": "{}" }).entry]) {
    expect(await getRefusal(path)).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("ends in .ts, .mts, .js, .mjs"),
    });
  }
});

test("what does not parse or resolve is named with its place and its line", async () => {
  const broken = createProject({
    "worker.ts": 'export * from "./more.ts";',
    "more.ts": "const ok = 1;\n  const a b = 1;\n",
  });
  expect(await getRefusal(broken.entry)).toMatchObject({
    code: "bad_request",
    message: `The Worker does not build. ${broken.folder}/more.ts:2:11: Expected ";" but found "b"\nconst a b = 1;`,
  });
  const lost = createProject({ "worker.ts": `import "nothing-of-the-sort";\nimport "./none.ts";` });
  expect(await getRefusal(lost.entry)).toMatchObject({
    message: expect.stringContaining(`${lost.entry}:1:8: Could not resolve "nothing-of-the-sort"`),
    details: {
      problems: [expect.anything(), { path: [`${lost.entry}:2:8`], message: expect.stringContaining("./none.ts") }],
    },
  });
});

test("exports that main needs are asked for by name, with the line that brings them", async () => {
  const { entry } = createProject({ "worker.ts": "export class Think {}\nexport class User {}" });
  expect(await getRefusal(entry)).toMatchObject({
    code: "bad_request",
    message: `${entry} does not export Agency, Supervision, default; add \`export { Agency, Supervision, handler as default } from "@thinkery/runtime";\`.`,
  });
});

test("without the library beside it, or with another version, a Worker is not bundled", async () => {
  const alone = createProject({ "worker.ts": worker }, { installed: false });
  expect(await getRefusal(alone.entry)).toMatchObject({
    code: "bad_request",
    message: `@thinkery/runtime is not found from ${alone.folder}; install it there with \`npm install @thinkery/runtime\`.`,
  });
  expect(await getRefusal(createProject({ "worker.ts": worker }).entry, "7.0.0+abc")).toMatchObject({
    code: "bad_request",
    message: `The Worker has @thinkery/runtime ${libraryVersion}, and this is thinkery 7.0.0; install the same version of both.`,
  });
});
