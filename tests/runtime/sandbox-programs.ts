// Small programs for a sandbox, and the expected outcome of each.

export interface Program {
  code: string;
  modules?: Record<string, string>;
  input?: unknown;
  /** The expected result; messages are compared in full. */
  value?: string;
  syntax?: string;
  threw?: string;
  limit?: string;
  console?: string;
  /** The expected calls to main. */
  calls?: string[] | "any";
}

const network = "The only network access is fetch, as far as the agent's policy allows.";

export const programs: Record<string, Record<string, Program>> = {
  "the result": {
    "a number": { code: "return 1 + 1", value: "2" },
    "a string, unquoted": { code: 'return "a \\"b\\"\\n"', value: 'a "b"\n' },
    "plain data, as JSON": {
      code: "return { a: [null, true, 1.5, 'x'], b: undefined }",
      value: '{"a":[null,true,1.5,"x"]}',
    },
    "no return": { code: "const a = 1" },
    undefined: { code: "return undefined" },
    "a promise's value": { code: "return new Promise((done) => setTimeout(done, 1, 'later'))", value: "later" },
    "a map": { code: "return new Map([['a', new Set([1])]])", value: "Map(1) { 'a' => Set(1) { 1 } }" },
    "a date": { code: "return new Date(0)", value: "1970-01-01T00:00:00.000Z" },
    NaN: { code: "return 0 / 0", value: "NaN" },
    "a bigint": { code: "return [2n ** 64n]", value: "[ 18446744073709551616n ]" },
    bytes: { code: "return new Uint8Array([1, 255])", value: "Uint8Array(2) [ 1, 255 ]" },
    "a class instance": {
      code: "class Point { x = 1; get y() { throw 1 } }\nreturn new Point()",
      value: "Point { x: 1 }",
    },
    "a getter, which is not called": { code: "return { get a() { throw new Error('no') } }", value: "{ a: [Getter] }" },
    "a function": { code: "return function f() {}", value: "[Function: f]" },
    "a symbol": { code: "return Symbol('s')", value: "Symbol(s)" },
    "a circular object": { code: "const a = {}; a.a = a; return a", value: "{ a: [Circular] }" },
    "a response": {
      code: "return new Response('x', { status: 201 })",
      value:
        "Response {\n  status: 201,\n  statusText: '',\n  ok: true,\n  url: '',\n  headers: Headers { 'content-type' => 'text/plain;charset=UTF-8' }\n}",
    },
    "an error": { code: "return [new TypeError('x')]", value: "[\n  TypeError: x\n      at code:1:9\n]" },
    "a result that is too large": {
      code: "return 'x'.repeat(10485761)",
      limit:
        "The returned value has 10485761 characters; the limit is 10485760. Return only what is needed, or store the rest with a tool.",
    },
    "an object that throws when inspected": {
      code: "return new Proxy({}, {\n  ownKeys() { throw new Error('mine') } })",
      threw: "Error: mine\n    at Object.ownKeys (code:2:21)",
    },
    "a default export": { code: "const a = 1;\nexport default { a }", value: '{"a":1}' },
    "a default function, which gets the input": {
      code: "export default async function ({ n }: { n: number }) { return n + 1 }",
      input: { n: 1 },
      value: "2",
    },
  },
  "error positions": {
    "in the code": {
      code: "const a = 1;\n  missing(a)",
      threw: "ReferenceError: missing is not defined\n    at code:2:3",
    },
    "in a function": {
      code: "const o = { m() { null.x } };\nfunction f() { o.m() }\n f()",
      threw:
        "TypeError: Cannot read properties of null (reading 'x')\n    at Object.m (code:1:24)\n    at f (code:2:18)\n    at code:3:2",
    },
    "after an await": {
      code: "async function f() { await null; throw new RangeError('far') }\nawait f()",
      threw: "RangeError: far\n    at f (code:1:40)\n    at code:2:1",
    },
    "in an arrow function after an await": {
      code: "const f = async () => { await null; throw new Error('x') };\nawait (async () => { await f() })()",
      threw: "Error: x\n    at f (code:1:43)\n    at code:2:22\n    at code:2:1",
    },
    "after types": {
      code: "const a: Map<string, number> = new Map(); (a as any).get('x')!.y",
      threw: "TypeError: Cannot read properties of undefined (reading 'y')\n    at code:1:63",
    },
    "after an enum": {
      code: "enum A { X, Y } const b: number = A.Y; null.x",
      threw: "TypeError: Cannot read properties of null (reading 'x')\n    at code:1:45",
    },
    "in a class with parameter properties": {
      code: "class P { constructor(private a: number) { null.x } }\nnew P(1)",
      threw: "TypeError: Cannot read properties of null (reading 'x')\n    at new P (code:1:49)\n    at code:2:1",
    },
    "in a module": {
      code: "import { half } from './lib/util.ts';\nhalf(-1)",
      modules: {
        "lib/util.ts":
          "type N = number;\nexport function half(n: N): N { const least: N = 0; if (n < least) throw new Error('neg'); return n / 2 }",
      },
      threw: "Error: neg\n    at half (lib/util.ts:2:74)\n    at code:2:1",
    },
    "while a module is loaded": {
      code: "import './a.js'",
      modules: { "a.js": "\n  null.x" },
      threw: "TypeError: Cannot read properties of null (reading 'x')\n    at a.js:2:8",
    },
    "with a cause": {
      code: "throw new Error('a', { cause: new Error('b') })",
      threw: "Error: a\n    at code:1:7\nCaused by: Error: b\n    at code:1:31",
    },
    "as seen by the code itself": {
      code: "try { null.x } catch (error) { return error.stack }",
      value: "TypeError: Cannot read properties of null (reading 'x')\n    at code:1:12",
    },
    "in endless recursion": {
      code: "(function f() { f() })()",
      threw: `RangeError: Maximum call stack size exceeded\n    at f (code:1:12)${"\n    at f (code:1:17)".repeat(9)}`,
    },
    "of an allocation that is too large": {
      code: "new ArrayBuffer(1e13)",
      threw: "RangeError: Array buffer allocation failed\n    at code:1:1",
    },
    "even if the code overrides prepareStackTrace": {
      code: "Error.prepareStackTrace = () => { throw 1 };\nthrow new Error('x')",
      threw: "Error: x\n    at code:2:7",
    },
  },
  "thrown values that are no errors": {
    "a number": { code: "throw 42", threw: "The code threw something that is not an Error: 42" },
    null: { code: "throw null", threw: "The code threw something that is not an Error: null" },
    undefined: { code: "return Promise.reject()", threw: "The code threw something that is not an Error: undefined" },
    "an object": {
      code: "throw { code: 7, toString() { throw 1 } }",
      threw: "The code threw something that is not an Error: { code: 7, toString: [Function: toString] }",
    },
    "an object that throws when inspected": {
      code: "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })",
      threw: "The code threw something that is not an Error: [object that cannot be inspected]",
    },
  },
  "syntax errors": {
    JavaScript: {
      code: "const a = 1;\nconst b = ;",
      syntax: "SyntaxError: Unexpected token (code:2:11)\n\n  2 | const b = ;\n    |           ^",
    },
    TypeScript: {
      code: "const a: number = 1;\nconst b: = 2",
      syntax: "SyntaxError: Unexpected token (code:2:10)\n\n  2 | const b: = 2\n    |          ^",
    },
    "a module": {
      code: "return 1",
      modules: { "a.ts": "let a: string;\n\nlet a = 1" },
      syntax: "SyntaxError: Identifier 'a' has already been declared (a.ts:3:5)\n\n  3 | let a = 1\n    |     ^",
    },
    "a missing module": {
      code: "import a from './a.js'",
      syntax:
        "SyntaxError: There is no module “./a.js”. Only modules that were passed along can be imported; there are none. (code:1:15)\n\n  1 | import a from './a.js'\n    |               ^",
    },
    "exports without a default": {
      code: "export const a = 1",
      syntax:
        "SyntaxError: The code exports something, but not its result: return the result, or export it as default (code:1:1)\n\n  1 | export const a = 1\n    | ^",
    },
  },
  modules: {
    "of every kind": {
      code: "import { two } from './two.js'; import three from 'three'; import data from './data.json' with { type: 'json' }; import note from './docs/note.md';\nreturn [two, three, data.n, note]",
      modules: {
        "two.js": "export const two = 2",
        "three.ts": "export default (3 as number)",
        "data.json": '{"n": [4]}',
        "docs/note.md": "# Hi",
      },
      value: '[2,3,[4],"# Hi"]',
    },
    "that import each other": {
      code: "import { even } from './a/even.ts'; return even(10)",
      modules: {
        "a/even.ts": "import { odd } from '../odd'; export const even = (n: number): boolean => n === 0 || odd(n - 1)",
        "odd.ts": "import { even } from 'a/even'; export const odd = (n: number): boolean => n !== 0 && even(n - 1)",
      },
      value: "true",
    },
    "between statements without semicolons": {
      code: "const a = [[1]]\nimport { b } from './b.js'\n[0, b].map(String)\nreturn a",
      modules: { "b.js": "export const b = 0" },
      value: "[[1]]",
    },
    "imported dynamically, by a computed name": {
      code: "const name = 'two';\nreturn (await import('./lib/' + name)).two",
      modules: { "lib/two.ts": "export const two: number = 2" },
      value: "2",
    },
    "limited to those that were given": {
      code: "const names = ['node:fs', 'cloudflare:workers', 'cloudflare:sockets', 'workerd:unsafe', 'file:///etc/passwd', '/etc/passwd', '/thinkery/harness.js', 'thinkery/entry.js', './code', '../a.js', 'data:text/javascript,1'];\nreturn (await Promise.all(names.map((name) => import(name).then(() => name, () => 'none')))).join()",
      modules: { "a.js": "export default 1" },
      value: "none,none,none,none,none,none,none,none,none,none,none",
    },
    "limited to those that were given, even with patched built-ins": {
      code: "Array.prototype.includes = Array.prototype.find = Set.prototype.has = Object.hasOwn = () => true; Array.prototype.find = function () { return this[0] }; RegExp.prototype.test = RegExp.prototype.exec = () => null;\nreturn (await import('cloudflare' + ':workers').then(Object.keys, ({ message }) => message.slice(0, 40)))",
      value: "There is no module “cloudflare:workers”.",
    },
    "that use timers while they are loaded": {
      code: "import './a.js'",
      modules: { "a.js": "await new Promise((done) => setTimeout(done, 1))" },
      threw:
        "Error: A module cannot use timers, tools, the network or random values while it is loaded. Use them in a function and call it from your code.\n    at a.js:1:29\n    at a.js:1:7",
    },
  },
  "the console": {
    "keeps the order": {
      code: "console.log('a', { b: [1] });\nconsole.error(new Error('e'));\nconsole.log('%s!', 'c')",
      console: "a { b: [ 1 ] }\nError: e\n    at code:2:15\nc!\n",
    },
    "is returned with an error": {
      code: "console.log('a'); throw new Error('b')",
      threw: "Error: b\n    at code:1:25",
      console: "a\n",
    },
    "contains uncaught errors": {
      code: "Promise.reject(new Error('left'));\nsetTimeout(() => { throw new Error('timer') }, 1);\nqueueMicrotask(() => { throw new Error('micro') });\nawait new Promise((done) => setTimeout(done, 10))",
      console:
        "Uncaught: Error: micro\n    at code:3:30\nUncaught: Error: timer\n    at code:2:26\nUnhandled rejection: Error: left\n    at code:1:16\n",
    },
    "contains rejections at the very end": {
      code: "Promise.reject(new Error('left')); return 1",
      value: "1",
      console: "Unhandled rejection: Error: left\n    at code:1:16\n",
    },
    "does not contain rejections that were handled late": {
      code: "const p = Promise.reject(new Error('late')); await new Promise((done) => setTimeout(done, 5)); await p.catch(() => {})",
    },
    "traces the caller": {
      code: "function f() { console.trace('here') }\nf()",
      console: "Trace: here\n    at f (code:1:24)\n    at code:2:1\n",
    },
  },
  capabilities: {
    "a tool": {
      code: "return await tools.readFile({ path: 'a.txt' })",
      value: '{"capability":"tools.readFile","input":{"path":"a.txt"}}',
      calls: ['tools.readFile {"path":"a.txt"}'],
    },
    "a tool without input": { code: "return tools.nothing()", calls: ["tools.nothing {}"] },
    "an echo": { code: "return echo([1, { a: null }])", value: '[1,{"a":null}]', calls: ['echo [1,{"a":null}]'] },
    "a tool that fails": {
      code: "const a = 1;\nawait tools.fails()",
      threw: "Error: the disk is full\n    at code:2:13",
      calls: ["tools.fails {}"],
    },
    "a tool that fails, awaited later": {
      code: "async function f() {\n  const asked = tools.fails();\n  await null;\n  await asked;\n}\nawait f()",
      threw: "Error: the disk is full\n    at f (code:2:23)\n    at code:6:7",
      calls: ["tools.fails {}"],
    },
    "a tool that fails, caught": {
      code: "try { await tools.fails() } catch (error) { return [error.name, error.message, error instanceof Error] }",
      value: '["Error","the disk is full",true]',
      calls: ["tools.fails {}"],
    },
    "an input that is not JSON": {
      code: "await echo(1n)",
      threw: "TypeError: Do not know how to serialize a BigInt\n    at code:1:7",
    },
    "thousands of concurrent calls": {
      code: "return (await Promise.all(Array.from({ length: 3000 }, (_, n) => echo(n)))).length",
      value: "3000",
      calls: "any",
    },
    "tools itself is not a promise": { code: "return typeof (await tools).readFile", value: "function" },
    fetch: {
      code: "const r = await fetch('https://a.b/c', { method: 'POST', headers: { x: 'y' }, body: 'hi' });\nreturn [r.status, r.statusText, r.ok, r.url, r instanceof Response, (await r.json()).body]",
      value: '[201,"Created",true,"https://a.b/c",true,"hi"]',
      calls: [
        'fetch {"url":"https://a.b/c","method":"POST","headers":{"content-type":"text/plain;charset=UTF-8","x":"y"},"body":"hi"}',
      ],
    },
    "fetch with a binary response": {
      code: "const r = await fetch(new URL('https://a.b/binary')); return new Uint8Array(await r.arrayBuffer())",
      value: "Uint8Array(4) [ 137, 80, 78, 71 ]",
      calls: ['fetch {"url":"https://a.b/binary","method":"GET","headers":{}}'],
    },
    "fetch with a binary body": {
      code: "await fetch(new Request('https://a.b/', { method: 'PUT', body: new Uint8Array([255]) }))",
      calls: ['fetch {"url":"https://a.b/","method":"PUT","headers":{},"bodyBase64":"/w=="}'],
    },
    "fetch with an empty response": {
      code: "const r = await fetch('https://a.b/empty'); return [r.status, await r.text()]",
      value: '[204,""]',
      calls: ['fetch {"url":"https://a.b/empty","method":"GET","headers":{}}'],
    },
    "fetch that is denied": {
      code: "await fetch('https://a.b/denied')",
      threw: "Error: No rule allows this.\n    at code:1:7",
      calls: ['fetch {"url":"https://a.b/denied","method":"GET","headers":{}}'],
    },
    "fetch that is aborted": {
      code: "await fetch('https://a.b/', { signal: AbortSignal.abort(new Error('enough')) })",
      threw: "Error: enough\n    at code:1:57",
    },
    "fetch of an invalid URL": { code: "await fetch('a b')", threw: "TypeError: Invalid URL: a b\n    at code:1:7" },
  },
  "unavailable APIs": {
    WebSocket: {
      code: "new WebSocket('wss://a.b')",
      threw: `Error: WebSocket is not available in a sandbox. ${network}\n    at code:1:1`,
    },
    EventSource: {
      code: "new EventSource('https://a.b')",
      threw: `Error: EventSource is not available in a sandbox. ${network}\n    at code:1:1`,
    },
    sendBeacon: {
      code: "navigator.sendBeacon('https://a.b')",
      threw: `Error: sendBeacon is not available in a sandbox. ${network}\n    at code:1:11`,
    },
    caches: {
      code: "await caches.open('a')",
      threw:
        "Error: caches is not available in a sandbox. Keep data in variables, or store it with a tool.\n    at code:1:1",
    },
    "the engine's own fetch": {
      code: "const { fetch } = Object.getPrototypeOf(globalThis).constructor.prototype;\nreturn fetch.call(globalThis, 'http://127.0.0.1/').then(() => 'reached', () => 'not reached')",
      value: "not reached",
    },
    "code from strings": {
      code: "eval('1')",
      threw: "EvalError: Code cannot be generated from strings here (eval, new Function).\n    at code:1:1",
    },
    "code from strings, through a constructor": {
      code: "(async () => {}).constructor('return 1')",
      threw: "EvalError: Code cannot be generated from strings here (eval, new Function).\n    at code:1:18",
    },
    WebAssembly: {
      code: "return WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(() => 'compiled', () => 'refused')",
      value: "refused",
    },
    Node: {
      code: "return [typeof process, typeof Buffer, typeof require, typeof __dirname, typeof setImmediate].join()",
      value: "undefined,undefined,undefined,undefined,undefined",
    },
  },
  "hostile code": {
    "returns its result even if it patched the built-ins": {
      code: "Array.prototype.push = Array.prototype.map = () => { throw 1 }; JSON.stringify = () => 'lie'; Object.prototype.toJSON = () => 'lie'; Promise.prototype.then = () => {}; String.prototype.slice = null; Array.prototype[Symbol.iterator] = null; Reflect.ownKeys = Object.hasOwn = null; delete globalThis.Response;\nreturn { a: [1] }",
      value: '{"a":[1]}',
    },
    "gets its error even if it patched the built-ins": {
      code: "Error.prototype.name = 'lie'; RegExp.prototype.exec = String.prototype.split = null; globalThis.Error = globalThis.Object = globalThis.console = null;\nnull.x",
      threw: "TypeError: Cannot read properties of null (reading 'x')\n    at code:2:6",
    },
    "cannot forge its outcome through Object.prototype": {
      code: "for (const name of ['get', 'set']) Object.defineProperty(Object.prototype, name, { configurable: true, get: () => undefined, set() {} });\nObject.assign(Object.prototype, { ok: true, value: 'lie', console: 'lie', kind: 'limit', writable: false, threw: true });",
    },
    "never gets hold of the stub to main": {
      code: "const held = [];\nfor (const name of ['call', 'writeConsole']) Object.defineProperty(Object.prototype, name, { __proto__: null, configurable: true, get() { held.push(this) } });\nconsole.log('x'); await echo(1); await new Promise((done) => setTimeout(done, 150));\nreturn held.length",
      value: "0",
      console: "x\n",
      calls: ["echo 1"],
    },
    "finds nothing left by another run": {
      code: "return [globalThis.left, Array.prototype.left, Object.prototype.left, 'x'.slice(0)].join()",
      value: ",,,x",
    },
    "awaits a promise that never resolves": {
      code: "console.log('so far');\nawait new Promise(() => {})",
      threw: "The code awaits a promise that can never resolve.",
      console: "so far\n",
    },
    "leaves timers behind": {
      code: "setInterval(() => {}, 1); setTimeout(() => console.log('too late'), 5); return 'done'",
      value: "done",
    },
    "does not await its calls": {
      code: "tools.slow(); tools.slow(); return 'done'",
      value: "done",
      console: "Not awaited: tools.slow, tools.slow. Whether they completed is unknown.\n",
      calls: "any",
    },
  },
};
