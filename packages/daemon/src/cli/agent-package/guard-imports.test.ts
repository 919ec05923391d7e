import { builtinModules } from "node:module";
import { expect, test } from "vitest";
import { explainBlocked } from "./blocked-modules.ts";
import { bundleFiles, getBundleErrors } from "./fixture.ts";

const isPublic = (name: string) => !name.startsWith("_") && !name.startsWith("node:");

/** Every built-in module of Node.js, with and without its prefix, and those that this version may not have. */
const builtins = [
  ...builtinModules.filter((name) => !name.startsWith("node:")),
  ...builtinModules.map((name) => `node:${name.replace(/^node:/, "")}`),
  "node:sqlite",
  "node:sea",
  "node:test",
  "node:something-new",
];

test("every module of Node.js is one error at its import, and says what to use", async () => {
  const lines = builtins.map((name) => `import ${JSON.stringify(name)};`);
  const errors = await getAllErrors([...lines, "export default 1;"]);
  expect(errors.map(({ line }) => line)).toEqual(builtins.map((_, index) => index + 1));
  for (const [index, name] of builtins.entries())
    expect(errors[index]?.message).toContain(`Agents cannot import “${name}”: it is part of Node.js. `);
});

test("each public module has advice of its own", () => {
  const generic = explainBlocked("node:something-new")?.replace(/^.*Node\.js\. /, "");
  const without = builtinModules.filter((name) => isPublic(name) && explainBlocked(name)?.includes(generic as string));
  expect(without).toEqual([]);
});

test.each([
  ["fs", "ctx.fs", "“fs”"],
  ["node:fs/promises", "ctx.fs", "“fs”"],
  ["child_process", "ctx.bash", "“bash”"],
  ["http", "fetch", "“fetch”"],
  ["https", "ctx.fetch", "“fetch”"],
  ["http2", "ctx.fetch", "“fetch”"],
  ["_http_agent", "ctx.fetch", "“fetch”"],
  ["net", "no sockets", "“fetch”"],
  ["tls", "no sockets", "“fetch”"],
  ["dns/promises", "no sockets", "“fetch”"],
  ["os", "settings", "ctx.settings"],
  ["process", "settings", "ctx.settings"],
  ["worker_threads", "one isolate", "concurrency"],
  ["cluster", "one isolate", "concurrency"],
  ["crypto", "crypto.subtle", "crypto.randomUUID()"],
  ["path", "pathe", "ctx.fs"],
  ["url", "URL", "URLSearchParams"],
  ["events", "EventTarget", "pure package “events”"],
  ["stream/web", "ReadableStream", "TransformStream"],
  ["timers/promises", "setTimeout", "schedule"],
  ["node:sqlite", "ctx.storage", "ctx.state"],
])("%s has a replacement", (name, ...expected) => {
  for (const text of expected) expect(explainBlocked(name)).toContain(text);
});

test.each([
  ["cloudflare:workers", "Cloudflare’s Workers"],
  ["bun", "part of Bun"],
  ["bun:sqlite", "part of Bun"],
  ["deno", "part of Deno"],
  ["electron", "part of Electron"],
  ["npm:zod@3", "import “zod”"],
  ["jsr:@std/path@1/join", "import “@std/path/join”"],
  ["https://deno.land/x/a.ts", "not loaded from the network"],
  ["./addon.node", "native code"],
  ["./add.wasm", "no WebAssembly"],
  ["@thinkery/sdk/agent-test", "is for tests"],
  ["@thinkery/sdk/client", "programs that talk to agents from outside"],
  ["@thinkery/sdk/nothing", "does not exist"],
  ["@thinkery/runtime", "defineAgent"],
])("%s is an error, too", async (name, expected) => {
  const errors = await getBundleErrors({
    "src/agent.ts": `\nimport "${name}";\nexport default 1;`,
    "src/add.wasm": "",
    "src/addon.node": "",
  });
  expect(errors).toEqual([expect.stringMatching(/^hello\/src\/agent\.ts:2:8: Agents cannot import/)]);
  expect(errors[0]).toContain(expected);
});

test("packages whose names only begin like modules of Node.js are not touched", async () => {
  const { code } = await bundleFiles({
    "src/agent.ts": 'import { a } from "pathe";\nimport b from "./fs";\nexport default [a, b];',
    "src/fs.ts": "export default 1;",
    "node_modules/pathe/package.json": '{ "name": "pathe", "main": "index.js" }',
    "node_modules/pathe/index.js": "exports.a = 1;",
  });
  expect(code).toContain("node_modules/pathe/index.js");
});

test("an import of a dependency says how the agent comes to it", async () => {
  const errors = await getBundleErrors({
    "src/agent.ts": 'import "./lib.ts";\nexport default 1;',
    "src/lib.ts": 'import "one";',
    "node_modules/one/package.json": '{ "name": "one", "main": "lib/index.js" }',
    "node_modules/one/lib/index.js": 'require("two");',
    "node_modules/two/package.json": '{ "name": "two", "main": "index.js" }',
    "node_modules/two/index.js": 'const a = 1;\ntry { require("node:fs"); } catch {}',
  });
  expect(errors).toEqual([
    `hello/node_modules/two/index.js:2:15: Agents cannot import “node:fs”: it is part of Node.js. Use ctx.fs for the files of the agent’s workspace (capability “fs”).
  2 │ try { require("node:fs"); } catch {}
    ╵               ~~~~~~~~~
imported by node_modules/one/lib/index.js
  which is imported by src/lib.ts
  which is imported by src/agent.ts`,
  ]);
});

test("a pure package of the same name is used, but not for the prefixed name", async () => {
  const files = {
    "node_modules/events/package.json": '{ "name": "events", "main": "events.js" }',
    "node_modules/events/events.js": "module.exports = 'pure';",
    "node_modules/fs/package.json": '{ "name": "fs", "main": "index.js" }',
    "node_modules/fs/index.js": "",
  };
  const { code } = await bundleFiles({ ...files, "src/agent.ts": 'import e from "events";\nexport default e;' });
  expect(code).toContain('"pure"');
  expect(await getBundleErrors({ ...files, "src/agent.ts": 'import "node:events";\nexport default 1;' })).toHaveLength(
    1,
  );
  expect(await getBundleErrors({ ...files, "src/agent.ts": 'import "fs";\nexport default 1;' })).toHaveLength(1);
});

test("a dependency may say what stands for a module in browsers", async () => {
  const createDependency = (browser: object) => ({
    "src/agent.ts": 'import dependency from "dependency";\nexport default dependency;',
    "node_modules/dependency/package.json": JSON.stringify({ name: "dependency", main: "lib/index.js", browser }),
    "node_modules/dependency/web-crypto.js": "module.exports = 'web';",
    // Says only what kind of modules the folder contains.
    "node_modules/dependency/lib/package.json": '{ "type": "commonjs" }',
    "node_modules/dependency/lib/index.js": 'module.exports = [require("crypto"), require("fs")];',
  });
  const { code } = await bundleFiles(createDependency({ crypto: "./web-crypto.js", fs: false }));
  expect(code).toContain('"web"');
  expect(await getBundleErrors(createDependency({ crypto: "./web-crypto.js" }))).toEqual([
    expect.stringContaining("“fs”"),
  ]);
});

/** Returns all errors of a module with these lines, which are more than are shown at once. */
async function getAllErrors(lines: readonly string[]): Promise<{ line: number; message: string }[]> {
  const all: { line: number; message: string }[] = [];
  for (let start = 0; start < lines.length; start += 20) {
    const padding = "\n".repeat(start);
    const errors = await getBundleErrors({ "src/agent.ts": padding + lines.slice(start, start + 20).join("\n") });
    all.push(...errors.map((message) => ({ line: Number(message.split(":")[1]), message })));
  }
  return all;
}
