import { type Attempt, createAttempt, unguarded } from "../attempt.ts";

// Consecutive runs of one agent: a run must not find what an earlier one left behind. The order matters.

const store = {
  "store.js":
    "export const kept = []; export let count = 0; export const up = () => ++count; globalThis.evaluated = (globalThis.evaluated ?? 0) + 1;",
};

const leftOrRefused = /^(?:ok: left(?:\n|$)|threw: Error: There is no module)/;

const absent = ["BroadcastChannel", "localStorage", "sessionStorage", "indexedDB", "cookieStore", "openDatabase"];

export const runs: readonly Attempt[] = [
  createAttempt(
    "globals, left",
    /^ok: left$/,
    "globalThis.left = 'ESCAPED'; Array.prototype.left = 'ESCAPED'; Object.prototype.left = 'ESCAPED'; globalThis.kept = { echo, tools, fetch }; return 'left'",
  ),
  createAttempt(
    "globals, found",
    /^ok: undefined,undefined,undefined$/,
    "return [typeof left, typeof [].left, typeof kept].join()",
  ),
  createAttempt(
    "module state, left",
    /^ok: 1$/,
    "import { up, kept } from './store.js';\nkept.push(echo);\nreturn up()",
    { modules: store },
  ),
  createAttempt(
    "module state, found",
    /^ok: 1 0 1$/,
    "import { up, kept } from './store.js';\nreturn [up(), kept.length, evaluated].join(' ')",
    { modules: store },
  ),
  createAttempt(
    "a timer, left",
    /^ok: left$/,
    "setInterval(() => { console.log('ESCAPED'); echo('late').catch(() => {}); }, 1); return 'left'",
  ),
  createAttempt(
    "a timer, observed",
    /^ok: (?!.*ESCAPED)/s,
    "await new Promise((resolve) => setTimeout(resolve, 50)); return 'quiet'",
  ),
  createAttempt(
    "work after the end, left",
    leftOrRefused,
    `${unguarded} const { waitUntil } = await import('cloudflare' + ':workers'); waitUntil((async () => { for (let i = 0; i < 100; i++) { await new Promise((resolve) => setTimeout(resolve, 5)); await echo('late ' + i); await tools.set_title({ title: 'late' }); } })()); return 'left'`,
  ),
  createAttempt(
    "work after the end, observed",
    /^ok: quiet$/,
    "await new Promise((resolve) => setTimeout(resolve, 100)); return 'quiet'",
  ),
  createAttempt(
    "pending calls at the end",
    /^ok: left(?:\n|$)/,
    "for (let i = 0; i < 50; i++) { echo('late ' + i).catch(() => {}); tools.hang({}).catch(() => {}); } return 'left'",
  ),
  createAttempt(
    "a busy loop after the end",
    leftOrRefused,
    `${unguarded} const { waitUntil } = await import('cloudflare' + ':workers'); waitUntil(new Promise(() => setTimeout(() => { for (;;); }, 20))); return 'left'`,
  ),
  createAttempt(
    "the run after a busy loop",
    /^(?:ok: here|sandbox_lost|timeout)/,
    "await new Promise((resolve) => setTimeout(resolve, 60)); return 'here'",
    { timeoutMs: 1000 },
  ),
  createAttempt("the run after that", /^ok: here$/, "return 'here'"),
  createAttempt(
    "patched built-ins, left",
    /^ok: left$/,
    "JSON.stringify = () => '\"ESCAPED\"'; Promise.prototype.then = () => 'ESCAPED'; console.log = () => 'ESCAPED'; globalThis.Response = class {}; return 'left'",
  ),
  createAttempt(
    "patched built-ins, found",
    /^ok: \{"a":1\}\n\nconsole:\nx$/,
    "console.log('x'); return await Promise.resolve({ a: 1 })",
  ),
  createAttempt(
    "a cache, left",
    /^threw: .*(?:No Cache|is not available in a sandbox)/s,
    "await (await caches.open('left')).put('http://x/', new Response('ESCAPED')); return 'left'",
  ),
  createAttempt(
    "a property on crypto",
    /^ok: undefined$/,
    "globalThis.crypto.left = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt']).then(() => undefined); return String(crypto.left)",
  ),
  createAttempt(
    "shared memory",
    /^ok: (?:\{|0)/,
    "const memory = new SharedArrayBuffer(8); return await echo(new Int32Array(memory)[0])",
  ),
  createAttempt(
    "Atomics.wait",
    /^threw: .*Atomics\.wait/s,
    "Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0, 5000); return 'ESCAPED'",
  ),
  createAttempt(
    "a MessageChannel",
    /^ok: none$/,
    "const { port1, port2 } = new MessageChannel(); let heard = 'none'; port1.onmessage = ({ data }) => (heard = 'ESCAPED ' + data); await new Promise((resolve) => setTimeout(resolve, 20)); void port2; return heard",
  ),
  createAttempt("navigator.locks", /^threw: TypeError/, "return 'ESCAPED' + (await navigator.locks.query())"),
  createAttempt("the symbol registry", /^ok: undefined$/, "return String(globalThis[Symbol.for('thinkery')])"),
  ...absent.map((name) => createAttempt(`${name}`, /^ok: undefined$/, `return typeof ${name}`)),
  createAttempt(
    "another agent's tools by its name",
    /^threw: .*(?:no tool|There is no|not a function)/is,
    "return 'ESCAPED' + (await tools['global~OTHER']({}))",
  ),
  createAttempt(
    "another agent through a tool",
    /^(?:ok|threw): (?!.*OTHER-WORDS)/s,
    "const got = []; for (const name of ['peek', 'readState', 'getMessages', 'events', 'send', 'invoke', 'readFile', 'bash']) got.push(await tools[name]({ agent: 'OTHER', path: 'HOME/token', command: 'cat HOME/token' }).catch((error) => error.message)); return got",
  ),
  createAttempt(
    "everything left by earlier runs",
    /^ok: \[\]$/,
    "return ['left', 'kept', 'out', 'seen', 'evaluated'].filter((name) => name in globalThis || name in Object.prototype || name in Array.prototype)",
  ),
];
