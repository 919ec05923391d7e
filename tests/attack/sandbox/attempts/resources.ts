import { type Attempt, createAttempt } from "../attempt.ts";

// More than there is: time, memory, room. Each ends in a clear error of its own, or is cut to size.

const quick = { timeoutMs: 300 };
const late = /^timeout: The run took more than 300 ms/;
const memory =
  /^(?:limit: .*memory|threw: RangeError|threw: DataCloneError: .*out of memory|threw: QuotaExceededError)/s;
/** On a busy machine, where sandboxes come last. */
const patient = { timeoutMs: 90_000 };
const range = /^threw: RangeError/;
const fine = /^ok: fine/;

const spin = "for (;;);";

/** Where a spin hides. */
const spins: [where: string, code: string, ends?: RegExp][] = [
  ["a loop", spin],
  ["a getter of the result", `return { get a() { ${spin} } }`, /^ok: \{ a: \[Getter\] \}$/],
  ["toJSON of the result", `return { toJSON() { ${spin} } }`, /^ok: \{ toJSON: \[Function/],
  ["then of the result", `return { then() { ${spin} } }`],
  [
    "a Proxy as the result",
    `return new Proxy({}, { ownKeys() { ${spin} }, get() { ${spin} }, getPrototypeOf() { ${spin} } })`,
  ],
  [
    "the words of what is thrown",
    `throw { toString() { ${spin} }, [Symbol.toPrimitive]() { ${spin} }, get message() { ${spin} } }`,
    /^threw: The code threw something that is not an Error/,
  ],
  [
    "the stack of what is thrown",
    `const error = new Error('x'); Object.defineProperty(error, 'stack', { get() { ${spin} } }); throw error`,
  ],
  [
    "prepareStackTrace",
    `Error.prepareStackTrace = () => { ${spin} }; throw new Error('x')`,
    /^(?:threw: Error: x|timeout: )/,
  ],
  [
    "the size of a Map that is shown",
    `class Mine extends Map { get size() { ${spin} } [Symbol.iterator]() { ${spin} } entries() { ${spin} } } console.log(new Mine([[1, 1]])); ${spin}`,
  ],
  ["toJSON of a capability's input", `await echo({ toJSON() { ${spin} } })`],
  ["a comparison", `[3, 1, 2].sort(() => { ${spin} })`],
  ["an expression", "return /^(a+)+$/.test('a'.repeat(64) + 'b')"],
  ["a microtask", `queueMicrotask(function again() { queueMicrotask(again); }); await new Promise(() => {})`],
  ["a timer", `setTimeout(() => { ${spin} }, 1); await new Promise(() => {})`],
  [
    "a generator",
    "function* all() { for (;;) yield 1; } return [...{ *[Symbol.iterator]() { for (const one of all()) if (one > 1) yield one; } }]",
  ],
  ["awaits without end", "for (;;) await null;"],
  ["timers without end", "for (;;) await new Promise((resolve) => setTimeout(resolve, 0));"],
  [
    "a promise that never comes",
    "await new Promise(() => {});",
    /^threw: The code waits for something that can never happen/,
  ],
  ["a finally that never ends", `try { throw 1; } finally { ${spin} }`],
  [
    "a lock of atomics",
    "const shared = new Int32Array(new SharedArrayBuffer(4)); while (Atomics.compareExchange(shared, 0, 0, 0) === 0);",
  ],
  [
    "the platform's own arithmetic",
    "const key = await crypto.subtle.importKey('raw', new Uint8Array(8), 'PBKDF2', false, ['deriveBits']); for (;;) await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(8), iterations: 100_000 }, key, 512);",
  ],
  [
    "huge numbers",
    "let n = 3n; for (let i = 0; i < 40; i++) n = n * n * n; return String(n).length",
    /^(?:timeout|threw|limit): /,
  ],
  [
    "a stream that never ends",
    "const stream = new ReadableStream({ pull(controller) { controller.enqueue(new Uint8Array(1024)); } }); for await (const chunk of stream) void chunk;",
  ],
  ["an import's own loop", "import './x.js';"],
];

/** How memory is eaten. */
const hungers: [string, string][] = [
  ["arrays", "const all = []; for (;;) all.push(new Array(1e6).fill(0.5))"],
  ["objects", "const all = []; for (;;) all.push(Array.from({ length: 1e5 }, (_, i) => ({ i })))"],
  ["a Map", "const all = new Map(); for (;;) all.set({}, new Array(1e5).fill(0.5))"],
  ["closures", "const all = []; for (;;) { const held = new Array(1e5).fill(0.5); all.push(() => held); }"],
  [
    "promises that wait",
    "const all = []; for (;;) all.push(new Promise((resolve) => all.push(resolve, new Array(1e5).fill(0.5))))",
  ],
  ["symbols for all", "const all = []; for (let i = 0; ; i++) all.push(Symbol.for('x'.repeat(1e6) + i))"],
  ["buffers", "const all = []; for (;;) all.push(new Uint8Array(64 * 1024 * 1024).fill(1))"],
  ["one buffer", "return new Uint8Array(8 * 1024 ** 3).fill(1).length"],
  [
    "a buffer that grows",
    "const buffer = new ArrayBuffer(0, { maxByteLength: 4 * 1024 ** 3 }); for (let size = 1; ; size *= 2) { buffer.resize(size); new Uint8Array(buffer).fill(1); }",
  ],
  [
    "shared memory",
    "const all = []; for (;;) { all.push(new SharedArrayBuffer(64 * 1024 * 1024)); new Uint8Array(all.at(-1)).fill(1); }",
  ],
  [
    "memory of WebAssembly",
    "const all = []; for (;;) { const memory = new WebAssembly.Memory({ initial: 1024 }); new Uint8Array(memory.buffer).fill(1); all.push(memory); }",
  ],
  ["blobs", "const all = []; for (;;) all.push(new Blob([new Uint8Array(32 * 1024 * 1024)]))"],
  ["copies", "let all = ['x'.repeat(1000)]; for (;;) all = [structuredClone(all), structuredClone(all)]"],
  [
    "text",
    "let text = 'x'; const all = []; for (;;) { text += text.slice(0, 1e6) + Math.random(); all.push([...text.slice(0, 1e6)]); }",
  ],
  ["a list as long as it gets", "return Array.from({ length: 2 ** 32 - 1 }, (_, i) => i + 0.5).length"],
  ["keys", "const all = {}; for (let i = 0; ; i++) all['k'.repeat(1e6) + i] = i"],
  [
    "weak references",
    "const all = []; for (;;) { const held = new Array(1e5).fill(0.5); all.push(held, new WeakRef(held)); new FinalizationRegistry(() => {}).register(held, 1); }",
  ],
  ["timers", "for (let i = 0; ; i++) setTimeout(() => i, 1e6)"],
  [
    "compressed nothing",
    "const packed = new Response(new Blob([new Uint8Array(16 * 1024 * 1024)]).stream().pipeThrough(new CompressionStream('gzip'))); const bytes = await packed.arrayBuffer(); const all = []; for (;;) all.push(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer())",
  ],
];

export const spinning: readonly Attempt[] = spins.map(([where, code, ends = late]) => {
  // What has to end before it spins is not to be taken for a spin because the machine is slow.
  const time = ends.test("timeout: The run took more than 300 ms") ? quick : patient;
  return createAttempt(`a spin in ${where}`, ends, code, {
    ...time,
    ...(code.startsWith("import") ? { modules: { "x.js": spin } } : {}),
  });
});

export const hungry: readonly Attempt[] = hungers.map(([what, code]) =>
  createAttempt(`memory for ${what}`, memory, code, patient),
);

export const oversized: readonly Attempt[] = [
  createAttempt(
    "more calls than a run may make",
    /^ok: 1000 .*may make 1000 calls/,
    "let made = 0, why = ''; for (let i = 0; i < 1010; i++) await echo(i).then(() => made++, (error) => (why = error.message)); return made + ' ' + why",
    patient,
  ),
  createAttempt(
    "ten thousand calls at once",
    /^(?:ok: 1000 .*may make 1000 calls|limit: )/,
    "const all = await Promise.allSettled(Array.from({ length: 10_000 }, (_, i) => echo(i))); return all.filter(({ status }) => status === 'fulfilled').length + ' ' + all.at(-1).reason.message",
    patient,
  ),
  createAttempt("recursion without end", range, "const deeper = () => deeper() + 1; return deeper()"),
  createAttempt(
    "recursion in what is shown",
    /^(?:threw: RangeError|ok: )/,
    "const deep = { toJSON() { return [deep]; } }; return JSON.stringify(deep)",
  ),
  createAttempt("a text longer than any", range, "return 'x'.repeat(2 ** 30)"),
  createAttempt("a text that doubles", /^(?:threw: RangeError|limit)/, "let text = 'x'; for (;;) text += text"),
  createAttempt("a number larger than any", range, "return 2n ** (2n ** 40n)"),
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
    "a result that is one of a billion laughs",
    /^(?:ok|threw|limit|timeout): /,
    "let laugh = ['ha']; for (let i = 0; i < 30; i++) laugh = [laugh, laugh]; return laugh",
    { timeoutMs: 1000 },
  ),
  createAttempt("bytes as the result", /^ok: Uint8Array/, "return crypto.getRandomValues(new Uint8Array(65536))"),
  createAttempt(
    "more chance than there is at once",
    /^threw: /,
    "return crypto.getRandomValues(new Uint8Array(65537))",
  ),
  createAttempt(
    "text that is no text",
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
    "a console shown a tree without end",
    /^ok: fine\n\nconsole:\n/,
    "const tree = (n) => new Proxy({}, { ownKeys: () => ['a', 'b'], getOwnPropertyDescriptor: () => ({ value: tree(n + 1), enumerable: true, configurable: true }), get: () => tree(n + 1) }); console.log(tree(0)); return 'fine'",
  ),
  createAttempt(
    "a group without end",
    /^ok: fine/,
    "for (let i = 0; i < 1e5; i++) console.group(); console.log('x'); return 'fine'",
  ),
  createAttempt(
    "an error of fifty megabytes",
    /^(?:threw|limit): (?=.{10,20100}$)/s,
    "throw new Error('x'.repeat(5e7))",
  ),
  createAttempt("a thrown text of fifty megabytes", /^(?:threw|limit): (?=.{10,20100}$)/s, "throw 'x'.repeat(5e7)"),
  createAttempt(
    "an error with a hundred thousand causes",
    /^threw: (?=.{4,20100}$)/s,
    "let error = new Error('first'); for (let i = 0; i < 1e5; i++) error = new Error('x' + i, { cause: error }); throw error",
  ),
  createAttempt(
    "a hundred thousand rejections that nobody handles",
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
    "numbers of a billion digits in a format",
    /^threw: /,
    "return new Intl.NumberFormat('en', { minimumFractionDigits: 1e9 }).format(1)",
  ),
  createAttempt(
    "code of a million nested brackets",
    /^(?:syntax|threw|limit): /,
    `return ${"[".repeat(20_000)}${"]".repeat(20_000)}.flat(Infinity).length + 'ESCAPED'.length > 1e9`,
  ),
  createAttempt("code of a hundred thousand sums", /^(?:syntax|threw|limit|ok): /, `return 0${"+1".repeat(50_000)}`),
  createAttempt("a module too many", /^limit: /, "return 'ESCAPED'", {
    modules: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`m${i}.js`, ""])),
  }),
];
