import { type Attempt, createAttempt, unguarded } from "../attempt.ts";

// Network access by every API that ever offered it. The test's own server must not be reached.

const denied = /^threw: .*(?:denie|allow)/s;
const invalid = /^threw: .*(?:Invalid input for fetch|Invalid URL)/s;
const closed = /^threw: .*(?:not permitted to access the internet|is not available in a sandbox)/s;
const unreached = /^threw: .*(?:There is no module|not permitted to access the internet)/s;
const absent = /^threw: ReferenceError: \w+ is not defined/;

const buildFetchCode = (url: string, init = "") =>
  `const answer = await fetch(${JSON.stringify(url)}${init && `, ${init}`}); return "ESCAPED " + answer.status + await answer.text();`;

const buildOpenCode = (source: string) =>
  `const s = ${source}; await new Promise((open, fail) => { s.onopen = open; s.onerror = ({ error, message }) => fail(error ?? new Error(message)); }); return 'ESCAPED'`;

/** Known ways to disguise a loopback address. */
const disguises: [string, string, RegExp][] = [
  ["by its name", "http://localhost:PORT/", denied],
  ["in IPv6", "http://[::1]:PORT/", denied],
  ["as IPv4 in IPv6", "http://[::ffff:127.0.0.1]:PORT/", denied],
  ["as the unspecified address", "http://0.0.0.0:PORT/", denied],
  ["as one number", "http://2130706433:PORT/", denied],
  ["in hexadecimal", "http://0x7f000001:PORT/", denied],
  ["in octal", "http://0177.0.0.1:PORT/", denied],
  ["shortened", "http://127.1:PORT/", denied],
  ["in fullwidth digits", "http://１２７.０.０.１:PORT/", denied],
  ["after a user name", "http://example.com@127.0.0.1:PORT/", invalid],
  ["after backslashes", "http:\\\\127.0.0.1:PORT\\", denied],
  ["with line breaks", "ht\ntp://127.0.0.1:\tPORT/", denied],
  ["without a scheme", "//127.0.0.1:PORT/", invalid],
];

/** URLs with schemes other than http and https. */
const schemes: [string, string][] = [
  ["a file", "file://HOME/token"],
  ["a unix socket", "unix:HOME/run/host.sock"],
  ["a web socket", "ws://127.0.0.1:PORT/"],
  ["a script", "javascript:fetch('TRAP')"],
  ["data", "data:text/plain,ESCAPED"],
  ["a platform scheme", "cloudflare:workers"],
  ["gopher", "gopher://127.0.0.1:PORT/_GET%20/"],
];

/** Globals of other environments. */
const constructors: [string, string][] = [
  ["XMLHttpRequest", "const r = new XMLHttpRequest(); r.open('GET', 'TRAP', false); r.send(); return 'ESCAPED'"],
  ["Worker", "new Worker('TRAP/worker.js'); return 'ESCAPED'"],
  ["SharedWorker", "new SharedWorker('TRAP/worker.js'); return 'ESCAPED'"],
  ["WebTransport", "await new WebTransport('TRAP').ready; return 'ESCAPED'"],
  ["WebSocketStream", "await new WebSocketStream('ws://127.0.0.1:PORT').opened; return 'ESCAPED'"],
  ["RTCPeerConnection", "new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:PORT' }] }); return 'ESCAPED'"],
  ["Image", "new Image().src = 'TRAP/pixel.gif'; return 'ESCAPED'"],
  ["FontFace", "await new FontFace('x', 'url(TRAP/x.woff)').load(); return 'ESCAPED'"],
  ["importScripts", "importScripts('TRAP/x.js'); return 'ESCAPED'"],
  ["document", "document.createElement('script').src = 'TRAP/x.js'; return 'ESCAPED'"],
  ["Bun", "return 'ESCAPED' + (await Bun.connect({ hostname: '127.0.0.1', port: PORT }))"],
  ["Deno", "return 'ESCAPED' + (await Deno.connect({ hostname: '127.0.0.1', port: PORT }))"],
];

export const network: readonly Attempt[] = [
  createAttempt("fetch", denied, buildFetchCode("TRAP/")),
  createAttempt("fetch of the host itself", denied, buildFetchCode("MAIN/health")),
  createAttempt(
    "fetch with a body",
    denied,
    buildFetchCode("TRAP/", "{ method: 'POST', body: JSON.stringify(Object.keys(globalThis)) }"),
  ),
  createAttempt(
    "fetch with a Request",
    denied,
    "return 'ESCAPED' + (await fetch(new Request('TRAP/', { redirect: 'manual' }))).status",
  ),
  createAttempt(
    "fetch with a Request with a forged URL",
    denied,
    "const r = new Request('TRAP/'); Object.defineProperty(r, 'url', { value: 'https://example.com/' }); return 'ESCAPED' + (await fetch(r)).status",
  ),
  createAttempt(
    "fetch of an object with two URLs",
    /^threw: /,
    "let n = 0; return 'ESCAPED' + (await fetch({ toString: () => (n++ ? 'TRAP/' : 'data:text/plain,x') })).status",
  ),
  createAttempt(
    "fetch with another Host header",
    /^threw: .*(?:denie|allow|cannot be set)/s,
    buildFetchCode("http://example.com/", "{ headers: { host: '127.0.0.1:PORT' } }"),
  ),
  createAttempt(
    "fetch with resolveOverride",
    denied,
    buildFetchCode("http://example.com/", "{ cf: { resolveOverride: '127.0.0.1' } }"),
  ),
  createAttempt(
    "fetch as an upgrade",
    /^threw: .*(?:denie|allow|cannot be set)/s,
    buildFetchCode("TRAP/", "{ headers: { upgrade: 'websocket', connection: 'upgrade' } }"),
  ),
  createAttempt("fetch with the method CONNECT", /^threw: /, buildFetchCode("TRAP/", "{ method: 'CONNECT' }")),
  createAttempt("data in a DNS lookup", denied, buildFetchCode("http://secret.example.invalid/")),
  ...disguises.map(([how, url, expected]) => createAttempt(`this machine, ${how}`, expected, buildFetchCode(url))),
  ...schemes.map(([kind, url]) => createAttempt(`fetch of ${kind}`, invalid, buildFetchCode(url))),
  createAttempt(
    "fetch of a blob URL",
    /^threw: /,
    "return 'ESCAPED' + (await (await fetch(URL.createObjectURL(new Blob(['x'])))).text())",
  ),
  createAttempt(
    "the platform's fetch, from the prototype",
    closed,
    "return 'ESCAPED' + (await Object.getPrototypeOf(globalThis).fetch.call(globalThis, 'TRAP/')).status",
  ),
  createAttempt(
    "the platform's fetch, from its class",
    closed,
    "return 'ESCAPED' + (await ServiceWorkerGlobalScope.prototype.fetch.call(self, 'TRAP/')).status",
  ),
  createAttempt(
    "the platform's fetch, after ours is deleted",
    /^threw: .*(?:not permitted|denie|allow)/s,
    "delete globalThis.fetch; return 'ESCAPED' + (await globalThis.fetch('TRAP/')).status",
  ),
  createAttempt("WebSocket", closed, buildOpenCode("new WebSocket('ws://127.0.0.1:PORT/')")),
  createAttempt(
    "WebSocket, encrypted and with protocols",
    closed,
    buildOpenCode("new WebSocket('wss://127.0.0.1:PORT/', ['a', 'b'])"),
  ),
  createAttempt(
    "the platform's WebSocket",
    closed,
    `delete globalThis.WebSocket; ${buildOpenCode("new WebSocket('ws://127.0.0.1:PORT/')")}`,
  ),
  createAttempt("EventSource", closed, buildOpenCode("new EventSource('TRAP/')")),
  createAttempt(
    "the platform's EventSource",
    closed,
    `delete globalThis.EventSource; ${buildOpenCode("new EventSource('TRAP/')")}`,
  ),
  createAttempt(
    "EventSource with its own fetcher",
    /^threw: /,
    buildOpenCode("new EventSource('TRAP/', { fetcher: { fetch: () => new Response('data: x\\n\\n') } })"),
  ),
  createAttempt(
    "a beacon",
    /^(?:ok: true$|threw: .*is not available in a sandbox)/s,
    "return navigator.sendBeacon('TRAP/', 'x')",
  ),
  // It always returns true; what counts is that the server is not reached.
  createAttempt(
    "the platform's beacon",
    /^ok: (?:true|false)$/,
    "const sent = Object.getPrototypeOf(navigator).sendBeacon.call(navigator, 'TRAP/', 'x'); await new Promise((resolve) => setTimeout(resolve, 50)); return sent",
  ),
  createAttempt("the default cache", closed, "return 'ESCAPED' + (await caches.default.match('TRAP/'))"),
  createAttempt(
    "the platform's cache",
    /^threw: .*No Cache/s,
    "delete globalThis.caches; const found = globalThis.caches ?? (() => { throw new Error('No Cache'); })(); return 'ESCAPED' + (await found.default.match('TRAP/'))",
  ),
  createAttempt(
    "its own cache",
    closed,
    "const cache = await caches.open('x'); await cache.put('TRAP/', new Response('x')); return 'ESCAPED'",
  ),
  createAttempt(
    "a socket",
    unreached,
    `${unguarded} const { connect } = await import('cloudflare' + ':sockets'); await connect('127.0.0.1:PORT').opened; return 'ESCAPED'`,
  ),
  createAttempt(
    "an encrypted socket",
    unreached,
    `${unguarded} const { connect } = await import(['cloudflare', 'sockets'].join(':')); await connect({ hostname: '127.0.0.1', port: PORT }, { secureTransport: 'on' }).opened; return 'ESCAPED'`,
  ),
  createAttempt(
    "an HTTP client over a socket",
    /^threw: /,
    `${unguarded} const { internalNewHttpClient } = await import('cloudflare' + ':sockets'); return 'ESCAPED' + (await internalNewHttpClient({})).fetch`,
  ),
  createAttempt(
    "its own server",
    /^threw: /,
    `${unguarded} const { httpServerHandler } = await import('cloudflare' + ':node'); return 'ESCAPED' + (await httpServerHandler({ port: PORT }).fetch(new Request('TRAP/')))`,
  ),
  createAttempt(
    "WebAssembly from a URL",
    /^threw: /,
    "return 'ESCAPED' + (await WebAssembly.instantiateStreaming(fetch('TRAP/x.wasm')))",
  ),
  createAttempt(
    "a script in rewritten HTML",
    /^ok: <script/,
    "return await new HTMLRewriter().on('script', { element(e) { e.setAttribute('src', 'TRAP/') } }).transform(new Response('<script></script>')).text()",
  ),
  createAttempt("a redirect response", /^ok: 302$/, "return Response.redirect('TRAP/', 302).status"),
  createAttempt(
    "a dispatched FetchEvent",
    /^(?:threw|ok): (?!ESCAPED)/,
    "addEventListener('fetch', (event) => event.respondWith(globalThis.fetch('TRAP/'))); return dispatchEvent(new FetchEvent('fetch', { request: new Request('TRAP/') }))",
  ),
  createAttempt(
    "a WebSocketPair in the result",
    /^(?:threw|ok): (?!ESCAPED)/,
    "const [a, b] = Object.values(new WebSocketPair()); a.accept(); return new Response(null, { status: 101, webSocket: b })",
  ),
  ...constructors.map(([name, code]) => createAttempt(`new ${name}`, absent, code)),
];
