import { type Attempt, createAttempt } from "../attempt.ts";

// Access to the harness around the code: bindings, stubs, paths, other realms.

/** Detects objects that code must never get hold of. */
const isPrivileged =
  "const { apply } = Reflect, { toString: tagOf } = Object.prototype, { test } = RegExp.prototype; const isPrivileged = (value) => value !== globalThis && !(value instanceof ServiceWorkerGlobalScope) && apply(test, /Rpc|Stub|Fetcher|Loader|Service|Durable/, [apply(tagOf, value, []) + (value?.constructor?.name ?? '')]);";

/** Patches built-ins, exercises the harness, and reports the privileged objects that passed by. */
const buildLeakProbe = (patch: string) => `${isPrivileged}
const leaks = [];
let isBusy = false;
const inspect = (...values) => {
  if (isBusy) return;
  isBusy = true;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if ((typeof value === 'object' || typeof value === 'function') && value !== null && isPrivileged(value)) leaks[leaks.length] = 'ESCAPED ' + value?.constructor?.name;
  }
  isBusy = false;
};
${patch}
console.log('x', { a: [1, new Map([[1, 2]])] }, new Error('y'));
await echo({ a: 1 });
await tools.set_title({ title: 'x' }).catch(() => {});
await fetch('http://example.com/').catch(() => {});
await new Promise((resolve) => setTimeout(resolve, 5));
return 'leaks ' + leaks`;

const noLeaks = /^ok: leaks (?:\n|$)/;

const patches: [string, string][] = [
  [
    "Promise.prototype.then",
    "const then = Promise.prototype.then; Promise.prototype.then = function (...a) { inspect(this, ...a); return then.call(this, (v) => { inspect(v); return a[0]?.(v); }, a[1]); };",
  ],
  [
    "static methods of Promise",
    "for (const name of ['resolve', 'reject', 'all', 'race', 'allSettled', 'withResolvers']) { const of = Promise[name]; Promise[name] = function (...a) { inspect(...a); return of.apply(this, a); }; }",
  ],
  [
    "call, apply and bind",
    "for (const name of ['call', 'apply', 'bind']) { const of = Function.prototype[name]; const { apply } = Reflect; Object.defineProperty(Function.prototype, name, { value(...a) { inspect(this, ...a); return apply(of, this, a); } }); }",
  ],
  [
    "Reflect",
    "for (const name of Reflect.ownKeys(Reflect)) { const of = Reflect[name]; if (typeof of === 'function') Reflect[name] = (...a) => { inspect(...a); return of(...a); }; }",
  ],
  [
    "JSON",
    "for (const name of ['stringify', 'parse']) { const of = JSON[name]; JSON[name] = (...a) => { inspect(...a); return of(...a); }; }",
  ],
  [
    "Map, WeakMap and Set",
    "for (const type of [Map, WeakMap, Set, WeakSet]) for (const name of Object.getOwnPropertyNames(type.prototype)) { const found = Object.getOwnPropertyDescriptor(type.prototype, name); if (typeof found.value === 'function' && name !== 'constructor') type.prototype[name] = function (...a) { inspect(this, ...a); return found.value.apply(this, a); }; }",
  ],
  [
    "array methods",
    "for (const name of Object.getOwnPropertyNames(Array.prototype)) { const of = Array.prototype[name]; if (typeof of === 'function' && name !== 'constructor') Object.defineProperty(Array.prototype, name, { value(...a) { const got = of.apply(this, a); if (name !== 'join' && name !== 'push') inspect(this, ...a, got); return got; } }); }",
  ],
  [
    "the array iterator",
    "const of = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function () { if (!isBusy) for (let i = 0; i < this.length; i++) { const one = this[i]; if (one !== null && typeof one === 'object') { isBusy = true; if (isPrivileged(one)) leaks[leaks.length] = 'ESCAPED'; isBusy = false; } } return apply(of, this, []); };",
  ],
  [
    "strings and regular expressions",
    "for (const type of [String, RegExp]) for (const name of Reflect.ownKeys(type.prototype)) { const found = Object.getOwnPropertyDescriptor(type.prototype, name); if (typeof found.value === 'function' && name !== 'constructor') Object.defineProperty(type.prototype, name, { value(...a) { inspect(this, ...a); return found.value.apply(this, a); } }); }",
  ],
  [
    "getters on Object.prototype",
    "for (const name of ['host', 'env', 'ctx', 'then', 'stub', 'get', 'value', 'ok', 'job', 'resolve', 'signal']) Object.defineProperty(Object.prototype, name, { __proto__: null, configurable: true, get() { inspect(this); return undefined; }, set(value) { inspect(this, value); Object.defineProperty(this, name, { __proto__: null, value, writable: true, configurable: true, enumerable: true }); } });",
  ],
  [
    "index setters on Array.prototype",
    "for (let i = 0; i < 5; i++) Object.defineProperty(Array.prototype, i, { configurable: true, set(value) { inspect(this, value); Object.defineProperty(this, i, { __proto__: null, value, writable: true, configurable: true, enumerable: true }); } });",
  ],
  [
    "the species of arrays and promises",
    "class Mine extends Array { constructor(...a) { super(...a); inspect(...a); } } Object.defineProperty(Array, Symbol.species, { get: () => Mine }); Object.defineProperty(Promise, Symbol.species, { get() { inspect(this); return Promise; } });",
  ],
  [
    "timers",
    "for (const name of ['setTimeout', 'queueMicrotask', 'setInterval']) { const of = globalThis[name]; globalThis[name] = (...a) => { inspect(...a); return of(...a); }; }",
  ],
  [
    "constructors",
    "for (const name of ['Error', 'Promise', 'Proxy', 'Response', 'Request', 'Headers', 'TextEncoder', 'URL']) { const of = globalThis[name]; globalThis[name] = new Proxy(of, { construct(t, a, n) { inspect(...a); return Reflect.construct(t, a, n === globalThis[name] ? t : n); }, apply(t, self, a) { inspect(self, ...a); return Reflect.apply(t, self, a); } }); }",
  ],
];

/** Names that the harness may use. */
const names = [
  "host",
  "env",
  "ctx",
  "job",
  "bridge",
  "stub",
  "run",
  "go",
  "harness",
  "exports",
  "module",
  "require",
  "LOADER",
  "HOST",
  "SANDBOX",
  "body",
  "user",
  "primordials",
  "__host",
  "_host",
  "__env",
  "call",
  "outcome",
];

export const secrets: readonly Attempt[] = [
  createAttempt(
    "names in scope",
    /^ok: (?:\n|$|The code ran)/,
    `const found = []; ${names.map((name) => `try { if (typeof ${name} !== 'undefined') found.push('${name}'); } catch { found.push('${name}'); }`).join(" ")} return found.join()`,
  ),
  createAttempt(
    "bindings anywhere below the global object",
    /^ok: \[\]$/,
    `${isPrivileged}
const seen = new Set(), found = [];
const walk = (value, path) => {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || path.length > 6) return;
  seen.add(value);
  if (path.length > 0 && isPrivileged(value)) found.push(path.join('.'));
  for (const key of Reflect.ownKeys(value)) { try { walk(Reflect.getOwnPropertyDescriptor(value, key)?.value, [...path, String(key)]); } catch {} }
  try { walk(Object.getPrototypeOf(value), [...path, '__proto__']); } catch {}
};
walk(globalThis, []);
return found.filter((path) => !/^(?:__proto__\\.)*ServiceWorkerGlobalScope/.test(path));`,
  ),
  createAttempt(
    "`this`",
    /^ok: (?:undefined|\[object Object\] $|The code ran)|^ok: undefined /,
    "return String(this) + ' ' + Object.getOwnPropertyNames(this ?? {})",
  ),
  createAttempt(
    "the function's arguments",
    /^(?:ok: (?:0\b.*|\[\])$|syntax: |threw: )/,
    "return arguments.length === 0 ? 0 : Array.from(arguments, (one) => Object.prototype.toString.call(one))",
  ),
  createAttempt("arguments.callee.caller", /^(?:threw|syntax): /, "return 'ESCAPED' + arguments.callee.caller"),
  createAttempt(
    "the caller of a function",
    /^(?:threw: |ok: null)/,
    "function inner() { return inner.caller; } const found = inner(); return found === null ? null : 'ESCAPED' + found",
  ),
  createAttempt(
    "the caller, through the prototype's getter",
    /^threw: /,
    "const { get } = Object.getOwnPropertyDescriptor(Function.prototype, 'caller'); return 'ESCAPED' + get.call(function () {})",
  ),
  createAttempt(
    "import.meta",
    /^ok: \[.*\]$/,
    "return Reflect.ownKeys(import.meta).map((key) => [key, typeof import.meta[key]]).filter(([, type]) => type === 'object')",
  ),
  createAttempt("new.target", /^(?:ok: |syntax: )/, "return String(new.target)"),
  createAttempt(
    "file names in a stack",
    /^ok: (?!.*(?:\/|harness|main\.js|sandbox))/s,
    "Error.stackTraceLimit = 1000; return new Error('x').stack",
  ),
  createAttempt(
    "file names in a capability's error",
    /^ok: (?!.*(?:\/home|\/tmp|node_modules|main\.js))/s,
    "Error.stackTraceLimit = 1000; const error = await echo(1n).catch((error) => error); return String(error.stack) + JSON.stringify(Object.getOwnPropertyNames(error)) + error.cause",
  ),
  createAttempt(
    "file names in a tool's error",
    /^ok: (?!.*(?:\/home|\/tmp|node_modules|main\.js))/s,
    "const error = await tools.throw({}).catch((error) => error); return [error.stack, String(error.cause), Object.keys(error)].join(' ')",
  ),
  createAttempt(
    "functions on the stack",
    /^ok: (?!.*(?:function|object))/s,
    "Error.prepareStackTrace = (_, sites) => sites.map((site) => [site.getFileName(), typeof site.getFunction(), typeof site.getThis()].join()).join('; '); return new Error('x').stack",
  ),
  createAttempt(
    "functions on the stack of a promise",
    /^ok: (?!.*(?:function|object))/s,
    "Error.prepareStackTrace = (_, sites) => sites.map((site) => [typeof site.getFunction(), typeof site.getThis(), site.getPromiseIndex?.()].join()).join('; '); try { await Promise.all([tools.throw({})]); } catch (error) { return String(error.stack); }",
  ),
  createAttempt(
    "functions on the stack while the harness inspects a value",
    /^ok: (?!.*(?:function|object))/s,
    "let seen = ''; Error.prepareStackTrace = (_, sites) => { seen += sites.map((site) => [typeof site.getFunction(), typeof site.getThis()].join()).join('; '); return ''; }; const trap = new Proxy({}, { get(_, key) { void new Error().stack; return undefined; }, ownKeys() { void new Error().stack; return []; }, getPrototypeOf() { void new Error().stack; return null; } }); console.log(trap); return seen || 'nothing'",
  ),
  createAttempt(
    "a captured stack",
    /^ok: (?!.*(?:\/home|\/tmp|harness))/s,
    "const holder = {}; Error.captureStackTrace(holder); return holder.stack",
  ),
  createAttempt(
    "another realm, through an error's constructor",
    /^threw: EvalError/,
    "const error = await tools.throw({}).catch((error) => error); return 'ESCAPED' + error.constructor.constructor('return globalThis')()",
  ),
  createAttempt(
    "another realm, through a result's constructor",
    /^threw: EvalError/,
    "const answer = await echo({ a: [1] }); return 'ESCAPED' + answer.a.constructor.constructor('return globalThis')()",
  ),
  createAttempt(
    "another realm, through the console",
    /^threw: EvalError/,
    "return 'ESCAPED' + console.log.constructor('return globalThis')()",
  ),
  createAttempt(
    "another realm, through the tools",
    /^threw: /,
    "return 'ESCAPED' + (await tools.constructor.constructor('return globalThis')())",
  ),
  createAttempt(
    "objects of another realm",
    /^ok: true$/,
    "const error = await tools.throw({}).catch((error) => error); return error instanceof Error && Object.getPrototypeOf(await echo({})) === Object.prototype && Object.getPrototypeOf(await echo([])) === Array.prototype",
  ),
  createAttempt(
    "a thenable that captures the harness's functions",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    "return { then(resolve) { let tag = 'none'; try { tag = 'ESCAPED ' + resolve.constructor('return globalThis')(); } catch (error) { tag = error.name; } resolve(tag); } }",
  ),
  createAttempt(
    "a result resolved twice",
    /^ok: first$/,
    "return { then(resolve, reject) { resolve('first'); resolve('ESCAPED'); reject(new Error('ESCAPED')); } }",
  ),
  createAttempt(
    "a Proxy that records its traps",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    `${isPrivileged} let note = 'fine'; const handler = new Proxy({}, { get: (_, trap) => (...a) => { if (a.slice(1).some(isPrivileged)) note = 'ESCAPED'; return Reflect[trap](...a); } }); console.log(new Proxy({ a: 1 }, handler)); return note`,
  ),
  createAttempt(
    "a forged type tag",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    "return { [Symbol.toStringTag]: 'JsRpcStub', constructor: { name: 'RpcStub' } }",
  ),
  createAttempt(
    "patched Symbol.hasInstance",
    /^(?:ok|threw): /,
    "for (const type of [Error, Map, Set, Date, Promise, Response]) Object.defineProperty(type, Symbol.hasInstance, { value: () => true }); return { plain: 1 }",
  ),
  createAttempt(
    "unhandled rejections of other code",
    /^ok: none/,
    "let seen = 'none'; addEventListener('unhandledrejection', ({ reason }) => { seen = 'ESCAPED ' + reason; }); addEventListener('error', ({ error }) => { seen = 'ESCAPED ' + error; }); await new Promise((resolve) => setTimeout(resolve, 20)); return seen",
  ),
  createAttempt(
    "the Cloudflare global",
    /^ok: compatibilityFlags/,
    "return Reflect.ownKeys(Cloudflare).filter((key) => typeof key === 'string').join()",
  ),
  createAttempt("a copy of a function", /^threw: .*clone/is, "return 'ESCAPED' + structuredClone(echo)"),
  createAttempt(
    "an async context",
    /^ok: undefined,undefined$/,
    "return [typeof AsyncContext, typeof AsyncLocalStorage].join()",
  ),
  createAttempt(
    "properties on Object.prototype that forge the outcome",
    /^ok: 5$/,
    "Object.assign(Object.prototype, { ok: true, kind: 'limit', message: 'forged', value: 'ESCAPED', console: 'ESCAPED' }); return 5",
  ),
  createAttempt(
    "an empty outcome filled in by Object.prototype",
    /^ok: (?!.*ESCAPED)/s,
    "Object.prototype.value = 'ESCAPED'; Object.prototype.console = 'ESCAPED'",
  ),
  createAttempt(
    "frozen built-ins",
    /^ok: 5$/,
    "for (const type of [Object, Array, Function, Promise, String, Map, Error]) { Object.freeze(type.prototype); Object.freeze(type); } Object.freeze(globalThis.console); return 5",
  ),
  createAttempt(
    "deleted globals",
    /^(?:ok: 5$|threw: )/,
    "for (const key of Reflect.ownKeys(globalThis)) { try { delete globalThis[key]; } catch {} } return 5",
  ),
  ...["call", "writeConsole"].map((name) =>
    createAttempt(
      `the stub itself, by a getter “${name}” on Object.prototype`,
      /^ok: none(?:\n|$)/,
      `let stolen; Object.defineProperty(Object.prototype, '${name}', { __proto__: null, configurable: true, get() { stolen ??= this; } }); console.log('x'); await echo(1).catch(() => {}); await new Promise((resolve) => setTimeout(resolve, 200)); delete Object.prototype['${name}']; return typeof stolen === 'function' ? 'ESCAPED ' + Object.prototype.toString.call(stolen) : 'none'`,
    ),
  ),
  ...patches.map(([target, patch]) =>
    createAttempt(`stubs that pass through ${target}`, noLeaks, buildLeakProbe(patch)),
  ),
];
