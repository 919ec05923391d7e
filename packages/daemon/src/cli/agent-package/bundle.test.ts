import { expect, test } from "vitest";
import { createBundler } from "./bundle.ts";
import { answer, bundleFiles, createPackageFolder, getBundleErrors } from "./fixture.ts";

const bundleCode = (code: string, files: Record<string, string> = {}) =>
  bundleFiles({ ...files, "src/agent.ts": code });

const getError = (code: string, files: Record<string, string> = {}) =>
  bundleCode(code, files).then(
    () => "bundled",
    (error: Error) => error.message,
  );

test("an agent is one module that imports only the SDK, from the isolate", async () => {
  const { code, files, warnings } = await bundleFiles({
    "src/agent.ts": `import { defineAgent, toModelMessages } from "@thinkery/sdk/agent";
      import { standardSettings } from "@thinkery/sdk";
      import name from "./name.js";
      import { version } from "../package.json";
      import prompt from "./prompt.md";
      const lazy = () => import("./lazy.ts");
      export default defineAgent({ settings: standardSettings, onMessage: (_, ctx) => ctx.send(name + version + prompt + lazy) });
      export const unused = toModelMessages;`,
    "src/name.ts": 'const name: string = "Ann";\nexport default name;',
    "src/lazy.ts": "export const lazy = 1;",
    "src/prompt.md": "Be brief.",
    "package.json": '{ "version": "1.2.3" }',
  });
  expect(code.match(/(?:import|from) ?["'(][^"')]*/g)).toEqual(['from "/thinkery/sdk.js']);
  for (const text of ['"Ann"', '"1.2.3"', '"Be brief."', "lazy = 1"]) expect(code).toContain(text);
  // What is not used need not exist in the SDK of the host.
  expect(code).not.toContain("ToolCallError");
  expect(files.toSorted()).toEqual(["package.json", "src/agent.ts", "src/lazy.ts", "src/name.ts", "src/prompt.md"]);
  expect(warnings).toEqual([]);
});

test("the source map names files relative to the package, without their contents", async () => {
  const { sourceMap } = await bundleCode('import "dependency";\nexport default function handle() {}', {
    "node_modules/dependency/index.js": "globalThis.a = 1;",
  });
  const map = JSON.parse(sourceMap ?? "");
  expect(map.sources).toEqual(["node_modules/dependency/index.js", "src/agent.ts"]);
  expect(map.sourcesContent).toBeUndefined();
});

test("packages are bundled as for Workers, or else for browsers", async () => {
  const withBrowser = { ".": { node: "./node.js", browser: "./browser.js", default: "./node.js" } };
  const withWorkerd = { ".": { node: "./node.js", workerd: "./workerd.js", default: "./node.js" } };
  const { code } = await bundleCode('import a from "a";\nimport b from "b";\nexport default [a, b];', {
    "node_modules/a/package.json": JSON.stringify({ name: "a", exports: withBrowser }),
    "node_modules/a/browser.js": "export default 'browser';",
    "node_modules/a/node.js": "import 'fs';",
    "node_modules/b/package.json": JSON.stringify({ name: "b", exports: withWorkerd }),
    "node_modules/b/workerd.js": "export default 'workerd';",
  });
  expect(code).toContain('"browser"');
  expect(code).toContain('"workerd"');
});

test("syntax errors and missing files are shown with their line", async () => {
  expect(await getBundleErrors({ "src/agent.ts": "const ä = 1; const b c = 2;" })).toEqual([
    `hello/src/agent.ts:1:22: Expected ";" but found "c".
  1 │ const ä = 1; const b c = 2;
    ╵                      ^`,
  ]);
  const long = `${"/* a long line */ ".repeat(20)}import "./none.ts"; ${"/* and more */ ".repeat(20)}`;
  const [missing = "", install = "", image = "", ...more] = await getBundleErrors({
    "src/agent.ts": `${long}\nimport "@scope/zod/mini";\nimport "./a.png";\nexport default 1;`,
    "src/a.png": "",
  });
  expect(missing).toContain("hello/src/agent.ts:1:368: There is no file “./none.ts”.");
  expect(missing.split("\n")[2]).toMatch(/^ {4}╵ {21}~{11}$/);
  expect(missing.split("\n")[1]).toMatch(/^ {2}1 │ .{20}"\.\/none\.ts"/);
  expect(install).toContain("Cannot find the package “@scope/zod/mini”. Run `npm install @scope/zod` in hello.");
  expect(image).toContain("Agents can import .ts");
  expect(more).toEqual([]);
});

test("importing what the SDK does not have is an error that says what it has", async () => {
  expect(await getError('import { defineTool } from "@thinkery/sdk";\nexport default defineTool;')).toContain(
    "hello/src/agent.ts:1:10: “@thinkery/sdk/agent” does not export “defineTool”. It has defineAgent",
  );
  expect(await getError('import sdk from "@thinkery/sdk/agent";\nexport default sdk;')).toContain("no default export");
});

test("a module without a default export is an error", async () => {
  expect(await getError("export const agent = 1;")).toMatch(/^hello\/src\/agent\.ts has no default export\./);
});

test("a bundle that is too large names what is large", async () => {
  const message = await getError('import "large";\nimport "./more.ts";\nexport default 1;', {
    "node_modules/large/index.js": `globalThis.a = "${"a".repeat(2_000_000)}";`,
    "src/more.ts": `globalThis.b = "${"b".repeat(500_000)}";`,
  });
  expect(message).toMatch(
    /^The bundle is too large: 2\.5 MB, at most 2\.1 MB\. Most of it: large \(2\.0 MB\), src\/more\.ts \(500 kB\), /,
  );
});

test("imports that are not literal, and globals of Node.js, are warnings", async () => {
  const { code, warnings } = await bundleCode(
    `// process.env is no code here
const name = "./a" + Math.random();
export const a = import(name);
export const b = require(name);
export const c = process.env.KEY + process.env.NODE_ENV;
export const d = typeof Buffer === "undefined" ? "" : Buffer.from("");
export const e = (process: { env: string }) => process.env;
export const f = global;
export default "process.env" + __dirname;`,
    { "node_modules/quiet/index.js": "exports.a = require(b);" },
  );
  expect(warnings.map((warning) => warning.split(/[.,:;] /)[0])).toEqual([
    "hello/src/agent.ts:3:18",
    "hello/src/agent.ts:4:18",
    "hello/src/agent.ts:5:18",
    "hello/src/agent.ts:9:32",
  ]);
  expect(warnings[0]).toContain("This import() fails when it runs");
  expect(warnings[1]).toContain("This require() fails when it runs");
  expect(warnings[2]).toContain(
    "Agents have no process, so this fails when it runs. There are no environment variables.",
  );
  expect(code).toContain('"production"');
  expect(code).toContain("globalThis");
});

test("a bundler bundles again what has changed, also after an error", async () => {
  const { folder, write } = createPackageFolder({ "src/agent.ts": answer("one") });
  const bundler = await createBundler({ folder, entry: "src/agent.ts" }, ".");
  expect((await bundler.bundle()).code).toContain('"one"');
  write("src/agent.ts", "export default {");
  await expect(bundler.bundle()).rejects.toThrow("src/agent.ts:1:17: ");
  write("src/agent.ts", answer("two"));
  expect((await bundler.bundle()).code).toContain('"two"');
  await bundler.close();
});
