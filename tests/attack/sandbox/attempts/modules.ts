import { type Attempt, createAttempt, noModule, unguarded } from "../attempt.ts";

// Imports of modules that the code was not given.

const missing = /^(?:threw|syntax): .*(?:No such module|cannot be imported|there is no|not given|nothing)/is;

const nodeModules = [
  "fs",
  "fs/promises",
  "child_process",
  "net",
  "http",
  "https",
  "dns",
  "dgram",
  "tls",
  "os",
  "vm",
  "module",
  "worker_threads",
  "cluster",
  "inspector",
  "v8",
  "repl",
  "wasi",
  "sqlite",
  "async_hooks",
  "util",
  "buffer",
];

const platformModules = [
  "cloudflare:email",
  "cloudflare:internal",
  "cloudflare:test",
  "cloudflare-internal:env",
  "cloudflare-internal:workers",
  "cloudflare-internal:sockets",
  "node-internal:process",
  "internal:unsafe-eval",
  "workerd:unsafe",
  "workerd:unsafe-eval",
  "workerd:loader",
  "workerd:rtti",
  "workerd:debug",
  "pyodide-internal:main",
];

const addresses: [string, string][] = [
  ["the network", "TRAP/x.js"],
  ["data", "data:text/javascript,export default 1"],
  ["a file", "file://HOME/config.jsonc"],
  ["the root", "/etc/passwd"],
  ["a parent folder", "../../../../../../etc/passwd"],
  ["the host's own code", "./sandbox.js"],
  ["encoded path traversal", "./%2e%2e/%2e%2e/etc/passwd"],
  ["an empty specifier", ""],
];

const buildImportCode = (name: string) =>
  `return "ESCAPED " + Object.keys(await import(${JSON.stringify(name.slice(0, 3))} + ${JSON.stringify(name.slice(3))})).join()`;

// Even if the import guard fails, these modules must be useless.
const workers = `${unguarded} const workers = await import('cloudflare' + ':workers');`;
const node = `${unguarded} const node = await import('node' + ':process');`;

export const modules: readonly Attempt[] = [
  ...nodeModules.map((name) => createAttempt(`import of node:${name}`, missing, buildImportCode(`node:${name}`))),
  ...["fs", "child_process", "process", "module"].map((name) =>
    createAttempt(
      `import of ${name}`,
      missing,
      `const { default: found } = await import("${name}"); return "ESCAPED" + found`,
    ),
  ),
  createAttempt(
    "a static import of node:fs",
    missing,
    'import { readFileSync } from "node:fs";\nreturn "ESCAPED" + readFileSync("HOME/token", "utf8");',
  ),
  createAttempt(
    "a static import of cloudflare:workers",
    missing,
    'import { env } from "cloudflare:workers";\nreturn "ESCAPED" + JSON.stringify(env);',
  ),
  createAttempt("an import in a given module", missing, 'import { read } from "./x.js";\nreturn read()', {
    modules: { "x.js": 'import fs from "node:fs"; export const read = () => fs.readFileSync("HOME/token");' },
  }),
  createAttempt(
    "a module that re-exports a name",
    missing,
    'import { connect } from "./x.js";\nreturn "ESCAPED" + connect',
    { modules: { "x.js": 'export { connect } from "cloudflare:sockets";' } },
  ),
  createAttempt(
    "a module that re-exports everything",
    missing,
    'import * as all from "./x.js";\nreturn "ESCAPED" + Object.keys(all)',
    { modules: { "x.js": 'export * from "cloudflare:workers";' } },
  ),
  createAttempt(
    "a module with the name of a platform module",
    /^(?:syntax|threw|limit): /,
    "return 'ESCAPED' + (await import('cloudflare:workers')).mine",
    { modules: { "cloudflare:workers": "export const mine = 1" } },
  ),
  createAttempt(
    "a module with the name of the harness",
    /^(?:syntax|threw|limit|ok): (?!ESCAPED)/,
    "return Object.keys(await import('./run.js'))",
    { modules: { "run.js": "export const mine = 1" } },
  ),
  createAttempt("a module name with path traversal", /^(?:syntax|threw|limit): /, "return 'ESCAPED'", {
    modules: { "../main.js": "export default 1" },
  }),
  createAttempt(
    "a module named __proto__",
    /^(?:syntax|threw|limit|ok): (?!ESCAPED)/,
    "return Object.keys(await import('./__proto__'))",
    { modules: JSON.parse('{"__proto__": "export const a = 1", "constructor": "export const b = 1"}') },
  ),
  ...platformModules.map((name) => createAttempt(`import of ${name}`, missing, buildImportCode(name))),
  ...addresses.map(([source, name]) =>
    createAttempt(
      `import from ${source}`,
      missing,
      `return "ESCAPED " + (await import(${JSON.stringify(name.slice(0, 2))} + ${JSON.stringify(name.slice(2))})).default`,
    ),
  ),
  createAttempt(
    "import of a blob URL",
    /^threw: /,
    "return 'ESCAPED' + (await import(URL.createObjectURL(new Blob(['export default 1'], { type: 'text/javascript' })))).default",
  ),
  createAttempt(
    "patched built-ins of the guard",
    noModule,
    `${unguarded} return "ESCAPED " + Object.keys(await import("cloudflare:workers"))`,
  ),
  createAttempt(
    "the harness, with patched built-ins of the guard",
    noModule,
    `${unguarded} return "ESCAPED " + Object.keys(await import("thinkery/harness.js"))`,
  ),
  createAttempt(
    "an extended list of the guard",
    noModule,
    "Object.defineProperty(Array.prototype, 0, { get: () => 'thinkery/harness.js', set() {}, configurable: true }); Array.prototype.indexOf = () => 0; return 'ESCAPED ' + Object.keys(await import('thinkery/harness.js'))",
  ),
  createAttempt(
    "the guard's list on Object.prototype",
    noModule,
    `${unguarded} Object.prototype['thinkery/harness.js'] = Object.prototype['cloudflare:workers'] = true; try { return 'ESCAPED ' + Object.keys(await import('thinkery/harness.js')); } catch { return 'ESCAPED ' + Object.keys(await import('cloudflare:workers')); }`,
  ),
  createAttempt(
    "a specifier that changes when read again",
    noModule,
    "let n = 0; return 'ESCAPED ' + Object.keys(await import({ toString: () => (n++ ? 'cloudflare:workers' : 'x.js') }))",
    { modules: { "x.txt": "" } },
  ),
  createAttempt(
    "the guard's own name with escapes",
    /^(?:threw|syntax|ok): (?!.*(?:ESCAPED|function))/s,
    "await import('./x.js').catch(() => {}); return typeof \\u0024impor + typeof \\u0024impor_",
  ),
  createAttempt("a source phase import", /^syntax: /, "return await import.source('cloudflare:workers')"),
  createAttempt("a deferred import", /^syntax: /, "return await import.defer('cloudflare:workers')"),
  createAttempt(
    "an import inside a block",
    /^syntax: /,
    "if (true) { import { env } from 'cloudflare:workers'; return env; }",
  ),
  createAttempt(
    "TypeScript's import assignment",
    /^(?:threw|syntax): /,
    'import fs = require("node:fs");\nreturn fs.readFileSync("HOME/token");',
  ),
  createAttempt("a given module in the harness's folder", /^(?:syntax|threw): /, "return 'ESCAPED'", {
    modules: { "thinkery/harness.js": "export const run = () => ({ ok: true, value: 'mine', console: '' })" },
  }),
  createAttempt("a given module in place of the code", /^(?:syntax|threw): /, "return 'ESCAPED'", {
    modules: { code: "export default () => 'mine'" },
  }),
  createAttempt("require", /^threw: ReferenceError/, "return 'ESCAPED' + require('fs')"),
  createAttempt("import.meta.require", /^(?:threw|syntax): /, "return 'ESCAPED' + import.meta.require('fs')"),
  createAttempt(
    "import with attributes",
    /^(?:threw|syntax): /,
    "return 'ESCAPED' + (await import('./x.txt', { with: { type: 'text' } })).default",
  ),
  createAttempt(
    "the environment from the platform module",
    /^(?:ok: \{\}$|threw: Error: There is no module)/,
    `${workers} return workers.env`,
  ),
  createAttempt(
    "the environment, set and read",
    /^(?:ok: 0$|threw: )/,
    `${workers} workers.withEnv({ LOADER: 1 }, () => {}); return Object.keys(workers.env).length`,
  ),
  createAttempt(
    "the harness's exports",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    `${workers} return Object.keys(workers.exports)`,
  ),
  createAttempt(
    "a connection to its own entrypoint",
    /^threw: /,
    `${workers} const s = workers.exports.default.connect('127.0.0.1:PORT'); await s.opened; return 'ESCAPED'`,
  ),
  createAttempt(
    "a request to its own entrypoint",
    /^threw: /,
    `${workers} return 'ESCAPED' + (await workers.exports.default.fetch('TRAP/')).status`,
  ),
  createAttempt(
    "a service stub created directly",
    /^threw: /,
    `${workers} return 'ESCAPED' + new workers.ServiceStub()`,
  ),
  createAttempt(
    "a stub of its own class",
    /^(?:ok|threw): (?!ESCAPED)/,
    `${workers} class Mine extends workers.RpcTarget { steal() { return "ESCAPED" } } return new workers.RpcStub(new Mine())`,
  ),
  createAttempt(
    "its own Durable Object",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    `${workers} class Mine extends workers.DurableObject {} const mine = new Mine({}, {}); return [mine.ctx, mine.env, mine.ctx.storage]`,
  ),
  createAttempt(
    "aborting the isolate",
    /^(?:threw|limit|sandbox_lost|timeout): /,
    `${workers} workers.abortIsolate("ESCAPED?"); return 'ESCAPED'`,
    { timeoutMs: 1000 },
  ),
  createAttempt("the environment of Node's process", /^(?:ok: \{\}$|threw: )/, `${node} return node.env`),
  createAttempt(
    "modules through Node's process",
    /^(?:ok: \[null,null,null,null\]$|threw: )/,
    `${node} return ['node:fs', 'node:child_process', 'node:vm', 'node:module'].map((name) => node.getBuiltinModule(name) ?? null)`,
  ),
  createAttempt("exiting Node's process", /^(?:threw|limit|sandbox_lost): /, `${node} node.exit(0); return 'ESCAPED'`, {
    timeoutMs: 1000,
  }),
  createAttempt("the global process", /^threw: ReferenceError/, "process.exit(0); return 'ESCAPED'"),
  createAttempt(
    "process bindings",
    /^(?:threw|ok): (?!.*ESCAPED)/s,
    `${node} return typeof node.default.binding === 'function' ? 'ESCAPED ' + node.default.binding('fs') : 'none'`,
  ),
];
