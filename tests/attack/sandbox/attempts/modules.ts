import { type Attempt, createAttempt, noModule, unguarded } from "../attempt.ts";

// Modules that are not among those the code was given.

const missing = /^(?:threw|syntax): .*(?:No such module|cannot be imported|there is no|not given|nothing)/is;

const nodes = [
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

const platforms = [
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
  ["above", "../../../../../../etc/passwd"],
  ["the host's own code", "./sandbox.js"],
  ["an encoded way up", "./%2e%2e/%2e%2e/etc/passwd"],
  ["nothing", ""],
];

const buildImportCode = (name: string) =>
  `return "ESCAPED " + Object.keys(await import(${JSON.stringify(name.slice(0, 3))} + ${JSON.stringify(name.slice(3))})).join()`;

// Should the guard of imports ever fall, what it guards must be worth nothing.
const workers = `${unguarded} const workers = await import('cloudflare' + ':workers');`;
const node = `${unguarded} const node = await import('node' + ':process');`;

export const modules: readonly Attempt[] = [
  ...nodes.map((name) => createAttempt(`import of node:${name}`, missing, buildImportCode(`node:${name}`))),
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
  createAttempt(
    "an import hidden in a module that was given",
    missing,
    'import { read } from "./x.js";\nreturn read()',
    { modules: { "x.js": 'import fs from "node:fs"; export const read = () => fs.readFileSync("HOME/token");' } },
  ),
  createAttempt(
    "a module that passes one on",
    missing,
    'import { connect } from "./x.js";\nreturn "ESCAPED" + connect',
    { modules: { "x.js": 'export { connect } from "cloudflare:sockets";' } },
  ),
  createAttempt(
    "a module that passes everything on",
    missing,
    'import * as all from "./x.js";\nreturn "ESCAPED" + Object.keys(all)',
    { modules: { "x.js": 'export * from "cloudflare:workers";' } },
  ),
  createAttempt(
    "a module named as one of the platform's",
    /^(?:syntax|threw|limit): /,
    "return 'ESCAPED' + (await import('cloudflare:workers')).mine",
    { modules: { "cloudflare:workers": "export const mine = 1" } },
  ),
  createAttempt(
    "a module in the harness's place",
    /^(?:syntax|threw|limit|ok): (?!ESCAPED)/,
    "return Object.keys(await import('./run.js'))",
    { modules: { "run.js": "export const mine = 1" } },
  ),
  createAttempt("a module whose name leads up", /^(?:syntax|threw|limit): /, "return 'ESCAPED'", {
    modules: { "../main.js": "export default 1" },
  }),
  createAttempt(
    "a module whose name is a prototype's",
    /^(?:syntax|threw|limit|ok): (?!ESCAPED)/,
    "return Object.keys(await import('./__proto__'))",
    { modules: JSON.parse('{"__proto__": "export const a = 1", "constructor": "export const b = 1"}') },
  ),
  ...platforms.map((name) => createAttempt(`import of ${name}`, missing, buildImportCode(name))),
  ...addresses.map(([what, name]) =>
    createAttempt(
      `import from ${what}`,
      missing,
      `return "ESCAPED " + (await import(${JSON.stringify(name.slice(0, 2))} + ${JSON.stringify(name.slice(2))})).default`,
    ),
  ),
  createAttempt(
    "import of a blob's address",
    /^threw: /,
    "return 'ESCAPED' + (await import(URL.createObjectURL(new Blob(['export default 1'], { type: 'text/javascript' })))).default",
  ),
  createAttempt(
    "a guard that is lied to",
    noModule,
    `${unguarded} return "ESCAPED " + Object.keys(await import("cloudflare:workers"))`,
  ),
  createAttempt(
    "the harness, past a guard that is lied to",
    noModule,
    `${unguarded} return "ESCAPED " + Object.keys(await import("thinkery/harness.js"))`,
  ),
  createAttempt(
    "a guard whose list is lengthened",
    noModule,
    "Object.defineProperty(Array.prototype, 0, { get: () => 'thinkery/harness.js', set() {}, configurable: true }); Array.prototype.indexOf = () => 0; return 'ESCAPED ' + Object.keys(await import('thinkery/harness.js'))",
  ),
  createAttempt(
    "a guard whose list every object has",
    noModule,
    `${unguarded} Object.prototype['thinkery/harness.js'] = Object.prototype['cloudflare:workers'] = true; try { return 'ESCAPED ' + Object.keys(await import('thinkery/harness.js')); } catch { return 'ESCAPED ' + Object.keys(await import('cloudflare:workers')); }`,
  ),
  createAttempt(
    "a guard that is told another name the second time",
    noModule,
    "let n = 0; return 'ESCAPED ' + Object.keys(await import({ toString: () => (n++ ? 'cloudflare:workers' : 'x.js') }))",
    { modules: { "x.txt": "" } },
  ),
  createAttempt(
    "the guard itself, by a name with escapes",
    /^(?:threw|syntax|ok): (?!.*(?:ESCAPED|function))/s,
    "await import('./x.js').catch(() => {}); return typeof \\u0024impor + typeof \\u0024impor_",
  ),
  createAttempt("an import of the phase of sources", /^syntax: /, "return await import.source('cloudflare:workers')"),
  createAttempt("an import that is put off", /^syntax: /, "return await import.defer('cloudflare:workers')"),
  createAttempt(
    "an import inside a block",
    /^syntax: /,
    "if (true) { import { env } from 'cloudflare:workers'; return env; }",
  ),
  createAttempt(
    "an import of TypeScript's own",
    /^(?:threw|syntax): /,
    'import fs = require("node:fs");\nreturn fs.readFileSync("HOME/token");',
  ),
  createAttempt("a given module in the folder of the harness", /^(?:syntax|threw): /, "return 'ESCAPED'", {
    modules: { "thinkery/harness.js": "export const run = () => ({ ok: true, value: 'mine', console: '' })" },
  }),
  createAttempt("a given module in the place of the code", /^(?:syntax|threw): /, "return 'ESCAPED'", {
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
    "the environment, from the platform's module",
    /^(?:ok: \{\}$|threw: Error: There is no module)/,
    `${workers} return workers.env`,
  ),
  createAttempt(
    "the environment, set and read again",
    /^(?:ok: 0$|threw: )/,
    `${workers} workers.withEnv({ LOADER: 1 }, () => {}); return Object.keys(workers.env).length`,
  ),
  createAttempt(
    "what the harness exports, called by hand",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    `${workers} return Object.keys(workers.exports)`,
  ),
  createAttempt(
    "a way out through its own entry",
    /^threw: /,
    `${workers} const s = workers.exports.default.connect('127.0.0.1:PORT'); await s.opened; return 'ESCAPED'`,
  ),
  createAttempt(
    "a request to its own entry",
    /^threw: /,
    `${workers} return 'ESCAPED' + (await workers.exports.default.fetch('TRAP/')).status`,
  ),
  createAttempt(
    "a stub of a service, made by hand",
    /^threw: /,
    `${workers} return 'ESCAPED' + new workers.ServiceStub()`,
  ),
  createAttempt(
    "a stub made from a class of its own",
    /^(?:ok|threw): (?!ESCAPED)/,
    `${workers} class Mine extends workers.RpcTarget { steal() { return "ESCAPED" } } return new workers.RpcStub(new Mine())`,
  ),
  createAttempt(
    "a Durable Object of its own",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    `${workers} class Mine extends workers.DurableObject {} const mine = new Mine({}, {}); return [mine.ctx, mine.env, mine.ctx.storage]`,
  ),
  createAttempt(
    "an end of the whole isolate",
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
  createAttempt(
    "an end of Node's process",
    /^(?:threw|limit|sandbox_lost): /,
    `${node} node.exit(0); return 'ESCAPED'`,
    { timeoutMs: 1000 },
  ),
  createAttempt("the global process", /^threw: ReferenceError/, "process.exit(0); return 'ESCAPED'"),
  createAttempt(
    "bindings of the process",
    /^(?:threw|ok): (?!.*ESCAPED)/s,
    `${node} return typeof node.default.binding === 'function' ? 'ESCAPED ' + node.default.binding('fs') : 'none'`,
  ),
];
