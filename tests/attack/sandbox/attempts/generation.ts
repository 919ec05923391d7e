import { type Attempt, createAttempt } from "../attempt.ts";

// Code from strings, and code that breaks out of its function.

const refused = /^threw: (?:Eval)?Error: Code (?:generation from strings disallowed|cannot be generated from strings)/;
const noWasm = /^threw: CompileError: .*disallowed/;
const syntaxError = /^syntax: /;

const wasm = "new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])";

export const generation: readonly Attempt[] = [
  createAttempt("eval", refused, "return 'ESCAPED' + eval('globalThis')"),
  createAttempt("indirect eval", refused, "return 'ESCAPED' + (0, eval)('globalThis')"),
  createAttempt("eval by another name", refused, "const run = globalThis['ev' + 'al']; return 'ESCAPED' + run('1')"),
  createAttempt("new Function", refused, "return 'ESCAPED' + new Function('return globalThis')()"),
  createAttempt("Function without new", refused, "return 'ESCAPED' + Function('return globalThis')()"),
  createAttempt(
    "the constructor's constructor",
    refused,
    "return 'ESCAPED' + ''.constructor.constructor('return globalThis')()",
  ),
  createAttempt(
    "AsyncFunction",
    refused,
    "const { constructor } = async () => {}; return 'ESCAPED' + (await constructor('return globalThis')())",
  ),
  createAttempt(
    "GeneratorFunction",
    refused,
    "const { constructor } = function* () {}; return 'ESCAPED' + [...constructor('yield globalThis')()]",
  ),
  createAttempt(
    "AsyncGeneratorFunction",
    refused,
    "const { constructor } = async function* () {}; return 'ESCAPED' + (await constructor('yield globalThis')().next()).value",
  ),
  createAttempt(
    "a class that extends Function",
    refused,
    "class Made extends Function { constructor() { super('return globalThis'); } } return 'ESCAPED' + new Made()()",
  ),
  createAttempt(
    "Reflect.construct of Function",
    refused,
    "return 'ESCAPED' + Reflect.construct(Function, ['return globalThis'])()",
  ),
  createAttempt(
    "Function, bound and called",
    refused,
    "return 'ESCAPED' + Function.prototype.constructor.bind(null, 'return globalThis')()()",
  ),
  createAttempt(
    "Function as a reviver",
    refused,
    "return 'ESCAPED' + JSON.parse('[\"return globalThis\"]', (key, value) => (key === '0' ? Function(value) : value))[0]()",
  ),
  createAttempt(
    "a string for setTimeout",
    /^(?:threw: |ok: fine)/,
    "globalThis.seen = 'fine'; setTimeout(\"globalThis.seen = 'ESCAPED'\", 0); await new Promise((resolve) => setTimeout(resolve, 20)); return seen",
  ),
  createAttempt(
    "a string for setInterval",
    /^(?:threw: |ok: fine)/,
    "globalThis.seen = 'fine'; setInterval(\"globalThis.seen = 'ESCAPED'\", 1); await new Promise((resolve) => setTimeout(resolve, 20)); return seen",
  ),
  createAttempt(
    "a string for queueMicrotask",
    /^threw: TypeError/,
    "queueMicrotask(\"globalThis.seen = 'ESCAPED'\"); return globalThis.seen ?? 'fine'",
  ),
  createAttempt("ShadowRealm", /^threw: ReferenceError/, "return 'ESCAPED' + new ShadowRealm().evaluate('1')"),
  createAttempt("WebAssembly.compile", noWasm, `return 'ESCAPED' + (await WebAssembly.compile(${wasm}))`),
  createAttempt("WebAssembly.instantiate", noWasm, `return 'ESCAPED' + (await WebAssembly.instantiate(${wasm}))`),
  createAttempt("new WebAssembly.Module", noWasm, `return 'ESCAPED' + new WebAssembly.Module(${wasm})`),
  createAttempt("Compartment", /^threw: ReferenceError/, "return 'ESCAPED' + new Compartment().evaluate('1')"),
  createAttempt(
    "eval redefined",
    refused,
    "Object.defineProperty(globalThis, 'eval', { value: eval, writable: true }); delete EvalError.prototype.name; return 'ESCAPED' + eval('1')",
  ),
  // The code is the body of a function and must not be able to close that function.
  createAttempt("a brace that closes the function", syntaxError, "} globalThis.out = 1; {"),
  createAttempt("a brace and parenthesis that close more", syntaxError, "}); globalThis.out = 1; (async () => {"),
  createAttempt(
    "an export after the function's end",
    syntaxError,
    "return 1 }\nexport const stolen = typeof host;\nasync function more() {",
  ),
  createAttempt("an unterminated comment", syntaxError, "return 1 /*"),
  createAttempt("an unterminated template", syntaxError, "return `x"),
  createAttempt("an unterminated regular expression", syntaxError, "return /x"),
  createAttempt("a line comment at the very end", /^ok: 1$/, "return 1 //"),
  createAttempt("HTML-like comments", syntaxError, "return 1\n<!-- } {\n--> }"),
  createAttempt(
    "a line separator inside a comment",
    /^(?:syntax: |ok: 1$)/,
    "// \u2028 } globalThis.out = 2; {\nreturn globalThis.out ?? 1",
  ),
  createAttempt("an escaped brace", syntaxError, "\\u007d globalThis.out = 1; \\u007b"),
  createAttempt("a zero byte", syntaxError, "return 1;\u0000 } globalThis.out = 2; {"),
  createAttempt(
    "a byte order mark and a hashbang",
    /^(?:syntax|ok): (?!.*ESCAPED)/s,
    "\ufeff#!/usr/bin/env node\nreturn 1",
  ),
  createAttempt(
    "a brace after types",
    syntaxError,
    "type A = { a: 1 };\nconst a: A = { a: 1 };\n} globalThis.out = 1; {",
  ),
  createAttempt("a decorator that closes its class", syntaxError, "@((x) => x) } class Out {"),
  createAttempt("with", syntaxError, "with (globalThis) { return origin }"),
  createAttempt(
    "an import specifier with quotes",
    /^(?:syntax|threw|limit): /,
    "import x from './a\";globalThis.out=1;\"';\nreturn 'ESCAPED'",
  ),
  createAttempt("a module name with quotes", /^(?:syntax|threw|limit|ok): (?!2)/, "return globalThis.out ?? 1", {
    modules: { 'a";globalThis.out=2;".js': "export default 1" },
  }),
  createAttempt("JSON that is code", /^(?:syntax|threw): /, "import x from './x.json';\nreturn x", {
    modules: { "x.json": "{}; globalThis.out = 2" },
  }),
];
