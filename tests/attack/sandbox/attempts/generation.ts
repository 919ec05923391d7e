import { type Attempt, attempt } from "../attempt.ts";

// Code out of strings, and code that is not where it should be.

const refused = /^threw: (?:Eval)?Error: Code (?:generation from strings disallowed|cannot be made from strings)/;
const noWasm = /^threw: CompileError: .*disallowed/;
const unread = /^syntax: /;

const wasm = "new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])";

export const generation: readonly Attempt[] = [
  attempt("eval", refused, "return 'ESCAPED' + eval('globalThis')"),
  attempt("indirect eval", refused, "return 'ESCAPED' + (0, eval)('globalThis')"),
  attempt("eval by another name", refused, "const run = globalThis['ev' + 'al']; return 'ESCAPED' + run('1')"),
  attempt("new Function", refused, "return 'ESCAPED' + new Function('return globalThis')()"),
  attempt("Function without new", refused, "return 'ESCAPED' + Function('return globalThis')()"),
  attempt("the constructor's constructor", refused, "return 'ESCAPED' + ''.constructor.constructor('return globalThis')()"),
  attempt("AsyncFunction", refused, "const { constructor } = async () => {}; return 'ESCAPED' + (await constructor('return globalThis')())"),
  attempt("GeneratorFunction", refused, "const { constructor } = function* () {}; return 'ESCAPED' + [...constructor('yield globalThis')()]"),
  attempt("AsyncGeneratorFunction", refused, "const { constructor } = async function* () {}; return 'ESCAPED' + (await constructor('yield globalThis')().next()).value"),
  attempt("a class that extends Function", refused, "class Made extends Function { constructor() { super('return globalThis'); } } return 'ESCAPED' + new Made()()"),
  attempt("Reflect.construct of Function", refused, "return 'ESCAPED' + Reflect.construct(Function, ['return globalThis'])()"),
  attempt("Function, bound and called", refused, "return 'ESCAPED' + Function.prototype.constructor.bind(null, 'return globalThis')()()"),
  attempt("Function as a reviver", refused, "return 'ESCAPED' + JSON.parse('[\"return globalThis\"]', (key, value) => (key === '0' ? Function(value) : value))[0]()"),
  attempt("a string for setTimeout", /^(?:threw: |ok: fine)/, "globalThis.seen = 'fine'; setTimeout(\"globalThis.seen = 'ESCAPED'\", 0); await new Promise((resolve) => setTimeout(resolve, 20)); return seen"),
  attempt("a string for setInterval", /^(?:threw: |ok: fine)/, "globalThis.seen = 'fine'; setInterval(\"globalThis.seen = 'ESCAPED'\", 1); await new Promise((resolve) => setTimeout(resolve, 20)); return seen"),
  attempt("a string for queueMicrotask", /^threw: TypeError/, "queueMicrotask(\"globalThis.seen = 'ESCAPED'\"); return globalThis.seen ?? 'fine'"),
  attempt("ShadowRealm", /^threw: ReferenceError/, "return 'ESCAPED' + new ShadowRealm().evaluate('1')"),
  attempt("WebAssembly.compile", noWasm, `return 'ESCAPED' + (await WebAssembly.compile(${wasm}))`),
  attempt("WebAssembly.instantiate", noWasm, `return 'ESCAPED' + (await WebAssembly.instantiate(${wasm}))`),
  attempt("new WebAssembly.Module", noWasm, `return 'ESCAPED' + new WebAssembly.Module(${wasm})`),
  attempt("a compartment", /^threw: ReferenceError/, "return 'ESCAPED' + new Compartment().evaluate('1')"),
  attempt("eval switched on again", refused, "Object.defineProperty(globalThis, 'eval', { value: eval, writable: true }); delete EvalError.prototype.name; return 'ESCAPED' + eval('1')"),
  // The code is the body of a function. It must not be able to end that function by itself.
  attempt("a brace that ends the function", unread, "} globalThis.out = 1; {"),
  attempt("a brace and a bracket that end more", unread, "}); globalThis.out = 1; (async () => {"),
  attempt("an export behind the function's end", unread, "return 1 }\nexport const stolen = typeof host;\nasync function more() {"),
  attempt("a comment that swallows what follows", unread, "return 1 /*"),
  attempt("a text that swallows what follows", unread, "return `x"),
  attempt("an expression that swallows what follows", unread, "return /x"),
  attempt("a line comment at the very end", /^ok: 1$/, "return 1 //"),
  attempt("a comment of old HTML", unread, "return 1\n<!-- } {\n--> }"),
  attempt("a line separator inside a comment", /^(?:syntax: |ok: 1$)/, "// \u2028 } globalThis.out = 2; {\nreturn globalThis.out ?? 1"),
  attempt("an escaped brace", unread, "\\u007d globalThis.out = 1; \\u007b"),
  attempt("a zero byte", unread, "return 1;\u0000 } globalThis.out = 2; {"),
  attempt("a byte order mark and a hashbang", /^(?:syntax|ok): (?!.*ESCAPED)/s, "\ufeff#!/usr/bin/env node\nreturn 1"),
  attempt("types that hide a brace", unread, "type A = { a: 1 };\nconst a: A = { a: 1 };\n} globalThis.out = 1; {"),
  attempt("a decorator that ends the class around it", unread, "@((x) => x) } class Out {"),
  attempt("with", unread, "with (globalThis) { return origin }"),
  attempt("a module's name that ends its quotes", /^(?:syntax|threw|limit): /, "import x from './a\";globalThis.out=1;\"';\nreturn 'ESCAPED'"),
  attempt("a given module's name that ends its quotes", /^(?:syntax|threw|limit|ok): (?!2)/, "return globalThis.out ?? 1", { modules: { 'a";globalThis.out=2;".js': "export default 1" } }),
  attempt("JSON that is code", /^(?:syntax|threw): /, "import x from './x.json';\nreturn x", { modules: { "x.json": "{}; globalThis.out = 2" } }),
];
