import { type Attempt, createAttempt } from "../attempt.ts";

// Exhaustion of time, memory or space. Each attempt ends with a clear error, or its output is cut.

const quick = { timeoutMs: 300 };
const timedOut = /^timeout: The run did not finish within 300 ms/;
const memory =
  /^(?:limit: .*memory|threw: RangeError|threw: DataCloneError: .*out of memory|threw: QuotaExceededError)/s;
/** For busy machines, where sandboxes have the lowest priority. */
const patient = { timeoutMs: 90_000 };
const range = /^threw: RangeError/;
const fine = /^ok: fine/;

const spin = "for (;;);";

/** Where a busy loop hides. */
const spins: [where: string, code: string, expected?: RegExp][] = [
  ["a loop", spin],
  ["a getter of the result", `return { get a() { ${spin} } }`, /^ok: \{ a: \[Getter\] \}$/],
  ["toJSON of the result", `return { toJSON() { ${spin} } }`, /^ok: \{ toJSON: \[Function/],
  ["then of the result", `return { then() { ${spin} } }`],
  [
    "a Proxy as the result",
    `return new Proxy({}, { ownKeys() { ${spin} }, get() { ${spin} }, getPrototypeOf() { ${spin} } })`,
  ],
  [
    "the message of a thrown value",
    `throw { toString() { ${spin} }, [Symbol.toPrimitive]() { ${spin} }, get message() { ${spin} } }`,
    /^threw: The code threw something that is not an Error/,
  ],
  [
    "the stack of a thrown error",
    `const error = new Error('x'); Object.defineProperty(error, 'stack', { get() { ${spin} } }); throw error`,
  ],
  [
    "prepareStackTrace",
    `Error.prepareStackTrace = () => { ${spin} }; throw new Error('x')`,
    /^(?:threw: Error: x|timeout: )/,
  ],
  [
    "the size of a logged Map",
    `class Mine extends Map { get size() { ${spin} } [Symbol.iterator]() { ${spin} } entries() { ${spin} } } console.log(new Mine([[1, 1]])); ${spin}`,
  ],
  ["toJSON of a capability's input", `await echo({ toJSON() { ${spin} } })`],
  ["a comparison", `[3, 1, 2].sort(() => { ${spin} })`],
  ["a regular expression", "return /^(a+)+$/.test('a'.repeat(64) + 'b')"],
  ["a microtask", `queueMicrotask(function again() { queueMicrotask(again); }); await new Promise(() => {})`],
  ["a timer", `setTimeout(() => { ${spin} }, 1); await new Promise(() => {})`],
  [
    "a generator",
    "function* all() { for (;;) yield 1; } return [...{ *[Symbol.iterator]() { for (const one of all()) if (one > 1) yield one; } }]",
  ],
  ["endless awaits", "for (;;) await null;"],
  ["endless timers", "for (;;) await new Promise((resolve) => setTimeout(resolve, 0));"],
  [
    "a promise that never resolves",
    "await new Promise(() => {});",
    /^threw: The code awaits a promise that can never resolve/,
  ],
  ["finally", `try { throw 1; } finally { ${spin} }`],
  [
    "an Atomics spinlock",
    "const shared = new Int32Array(new SharedArrayBuffer(4)); while (Atomics.compareExchange(shared, 0, 0, 0) === 0);",
  ],
  [
    "WebCrypto",
    "const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']); for (;;) await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(8), iterations: 100_000 }, key, 512);",
  ],
  [
    "huge numbers",
    "let n = 3n; for (let i = 0; i < 40; i++) n = n * n * n; return String(n).length",
    /^(?:timeout|threw|limit): /,
  ],
  [
    "an endless stream",
    "const stream = new ReadableStream({ pull(controller) { controller.enqueue(new Uint8Array(1024)); } }); for await (const chunk of stream) void chunk;",
  ],
  ["an imported module", "import './x.js';"],
];

/** Ways to use up memory. */
const hungers: [string, string][] = [
  ["arrays", "const all = []; for (;;) all.push(new Array(1e6).fill(0.5))"],
  ["objects", "const all = []; for (;;) all.push(Array.from({ length: 1e5 }, (_, i) => ({ i })))"],
  ["a Map", "const all = new Map(); for (;;) all.set({}, new Array(1e5).fill(0.5))"],
  ["closures", "const all = []; for (;;) { const held = new Array(1e5).fill(0.5); all.push(() => held); }"],
  [
    "pending promises",
    "const all = []; for (;;) all.push(new Promise((resolve) => all.push(resolve, new Array(1e5).fill(0.5))))",
  ],
  ["registered symbols", "const all = []; for (let i = 0; ; i++) all.push(Symbol.for('x'.repeat(1e6) + i))"],
  ["buffers", "const all = []; for (;;) all.push(new Uint8Array(64 * 1024 * 1024).fill(1))"],
  ["one buffer", "return new Uint8Array(8 * 1024 ** 3).fill(1).length"],
  [
    "a resizable buffer",
    "const buffer = new ArrayBuffer(0, { maxByteLength: 4 * 1024 ** 3 }); for (let size = 1; ; size *= 2) { buffer.resize(size); new Uint8Array(buffer).fill(1); }",
  ],
  [
    "shared memory",
    "const all = []; for (;;) { all.push(new SharedArrayBuffer(64 * 1024 * 1024)); new Uint8Array(all.at(-1)).fill(1); }",
  ],
  [
    "WebAssembly memory",
    "const all = []; for (;;) { const memory = new WebAssembly.Memory({ initial: 1024 }); new Uint8Array(memory.buffer).fill(1); all.push(memory); }",
  ],
  ["blobs", "const all = []; for (;;) all.push(new Blob([new Uint8Array(32 * 1024 * 1024)]))"],
  ["structured clones", "let all = ['x'.repeat(1000)]; for (;;) all = [structuredClone(all), structuredClone(all)]"],
  [
    "text",
    "let text = 'x'; const all = []; for (;;) { text += text.slice(0, 1e6) + Math.random(); all.push([...text.slice(0, 1e6)]); }",
  ],
  ["the longest possible array", "return Array.from({ length: 2 ** 32 - 1 }, (_, i) => i + 0.5).length"],
  ["keys", "const all = {}; for (let i = 0; ; i++) all['k'.repeat(1e6) + i] = i"],
  [
    "weak references",
    "const all = []; for (;;) { const held = new Array(1e5).fill(0.5); all.push(held, new WeakRef(held)); new FinalizationRegistry(() => {}).register(held, 1); }",
  ],
  ["timers", "for (let i = 0; ; i++) setTimeout(() => i, 1e6)"],
  [
    "decompressed streams",
    "const packed = new Response(new Blob([new Uint8Array(16 * 1024 * 1024)]).stream().pipeThrough(new CompressionStream('gzip'))); const bytes = await packed.arrayBuffer(); const all = []; for (;;) all.push(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer())",
  ],
];

export const spinning: readonly Attempt[] = spins.map(([where, code, expected = timedOut]) => {
  // Attempts that must not spin get a long timeout, so that a slow machine is not mistaken for a busy loop.
  const time = expected.test("timeout: The run did not finish within 300 ms") ? quick : patient;
  return createAttempt(`a busy loop in ${where}`, expected, code, {
    ...time,
    ...(code.startsWith("import") ? { modules: { "x.js": spin } } : {}),
  });
});

export const hungry: readonly Attempt[] = hungers.map(([kind, code]) =>
  createAttempt(`memory for ${kind}`, memory, code, patient),
);

export const oversized: readonly Attempt[] = [
  createAttempt(
    "more calls than a run may make",
    /^ok: 1000 .*may make at most 1000 calls/,
    "let made = 0, why = ''; for (let i = 0; i < 1010; i++) await echo(i).then(() => made++, (error) => (why = error.message)); return made + ' ' + why",
    patient,
  ),
  createAttempt(
    "ten thousand concurrent calls",
    /^(?:ok: 1000 .*may make at most 1000 calls|limit: )/,
    "const all = await Promise.allSettled(Array.from({ length: 10_000 }, (_, i) => echo(i))); return all.filter(({ status }) => status === 'fulfilled').length + ' ' + all.at(-1).reason.message",
    patient,
  ),
  createAttempt("endless recursion", range, "const deeper = () => deeper() + 1; return deeper()"),
  createAttempt(
    "recursion in toJSON",
    /^(?:threw: RangeError|ok: )/,
    "const deep = { toJSON() { return [deep]; } }; return JSON.stringify(deep)",
  ),
  createAttempt("a string beyond the maximum length", range, "return 'x'.repeat(2 ** 30)"),
  createAttempt("a string that doubles", /^(?:threw: RangeError|limit)/, "let text = 'x'; for (;;) text += text"),
  createAttempt("a BigInt beyond the maximum size", range, "return 2n ** (2n ** 40n)"),
  createAttempt("a result of twelve megabytes", /^limit: /, "return 'x'.repeat(12 * 1024 * 1024)"),
  createAttempt(
    "a result with a million entries",
    /^(?:ok|limit): /,
    "return Array.from({ length: 1e6 }, (_, i) => ({ i }))",
    patient,
  ),
  createAttempt(
    "a result nested a hundred thousand deep",
    /^(?:ok|threw|limit): /,
    "let deep = []; for (let i = 0; i < 1e5; i++) deep = [deep]; return deep",
  ),
  createAttempt(
    "a billion-laughs result",
    /^(?:ok|threw|limit|timeout): /,
    "let laugh = ['ha']; for (let i = 0; i < 30; i++) laugh = [laugh, laugh]; return laugh",
    { timeoutMs: 1000 },
  ),
  createAttempt("bytes as the result", /^ok: Uint8Array/, "return crypto.getRandomValues(new Uint8Array(65536))"),
  createAttempt("too many random bytes", /^threw: /, "return crypto.getRandomValues(new Uint8Array(65537))"),
  createAttempt(
    "control characters and unpaired surrogates",
    /^ok: /,
    "return String.fromCharCode(0, 27, 155, 0xd800, 0xdfff, 0xfffe) + '\\u001b[2J\\u202e'",
  ),
  createAttempt(
    "a console of a hundred megabytes",
    /^ok: fine\n\nconsole:\n.{1000,}$/s,
    "const line = 'x'.repeat(10_000); for (let i = 0; i < 10_000; i++) console.log(line); return 'fine'",
  ),
  createAttempt(
    "one line of twenty megabytes",
    /^ok: fine\n\nconsole:\n/,
    "console.log('x'.repeat(2e7)); return 'fine'",
  ),
  createAttempt(
    "a million lines",
    /^ok: fine\n\nconsole:\n/,
    "for (let i = 0; i < 1e6; i++) console.log(i); return 'fine'",
    { timeoutMs: 5000 },
  ),
  createAttempt(
    "an endless tree in the console",
    /^ok: fine\n\nconsole:\n/,
    "const tree = (n) => new Proxy({}, { ownKeys: () => ['a', 'b'], getOwnPropertyDescriptor: () => ({ value: tree(n + 1), enumerable: true, configurable: true }), get: () => tree(n + 1) }); console.log(tree(0)); return 'fine'",
  ),
  createAttempt(
    "endless console groups",
    /^ok: fine/,
    "for (let i = 0; i < 1e5; i++) console.group(); console.log('x'); return 'fine'",
  ),
  createAttempt(
    "an error of fifty megabytes",
    /^(?:threw|limit): (?=.{10,20100}$)/s,
    "throw new Error('x'.repeat(5e7))",
  ),
  createAttempt("a thrown string of fifty megabytes", /^(?:threw|limit): (?=.{10,20100}$)/s, "throw 'x'.repeat(5e7)"),
  createAttempt(
    "an error with a hundred thousand causes",
    /^threw: (?=.{4,20100}$)/s,
    "let error = new Error('first'); for (let i = 0; i < 1e5; i++) error = new Error('x' + i, { cause: error }); throw error",
  ),
  createAttempt(
    "a hundred thousand unhandled rejections",
    fine,
    "for (let i = 0; i < 1e5; i++) Promise.reject(new Error('x' + i)); await null; return 'fine'",
    patient,
  ),
  createAttempt("JSON a million deep", /^(?:ok|threw): /, "return JSON.parse('['.repeat(1e6) + ']'.repeat(1e6))"),
  createAttempt(
    "a Proxy a hundred thousand deep",
    range,
    "let proxy = {}; for (let i = 0; i < 1e5; i++) proxy = new Proxy(proxy, {}); return proxy.a",
  ),
  createAttempt(
    "a class a hundred thousand deep",
    /^(?:threw|ok): /,
    "let made = class {}; for (let i = 0; i < 1e4; i++) made = class extends made {}; return String(new made())",
  ),
  createAttempt(
    "a number format with a billion digits",
    /^threw: /,
    "return new Intl.NumberFormat('en', { minimumFractionDigits: 1e9 }).format(1)",
  ),
  createAttempt(
    "code of a million nested brackets",
    /^(?:syntax|threw|limit): /,
    `return ${"[".repeat(20_000)}${"]".repeat(20_000)}.flat(Infinity).length + 'ESCAPED'.length > 1e9`,
  ),
  createAttempt("code of a hundred thousand sums", /^(?:syntax|threw|limit|ok): /, `return 0${"+1".repeat(50_000)}`),
  createAttempt("too many modules", /^limit: /, "return 'ESCAPED'", {
    modules: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`m${i}.js`, ""])),
  }),
];
