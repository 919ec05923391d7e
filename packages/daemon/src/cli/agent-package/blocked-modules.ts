import { builtinModules } from "node:module";

// What an agent's sandbox does not have, and what to use instead.

const files = "Use ctx.fs for the files of the agent’s workspace (capability “fs”).";
const commands = "Use ctx.bash to run a command in the agent’s workspace (capability “bash”).";
const requests = "Use fetch, which is also ctx.fetch (capability “fetch”).";
const sockets = "There are no sockets; for HTTP use fetch (capability “fetch”).";
const settings = "Declare settings for what differs from place to place; ctx.settings has their values.";
const threads =
  "An agent runs in one isolate. To handle several messages at once, set `concurrency`; for other work, call tools or agents with ctx.tools.";
const terminal = "There is no terminal. Say it with ctx.reply() or ctx.send(), and log with ctx.log.";
const diagnostics = "There is no debugger inside an agent. Log with ctx.log; `thinkery agent logs` shows it.";
const streams = "Use the global ReadableStream, WritableStream and TransformStream.";
const noEvaluation = "Code cannot be compiled while an agent runs.";
const paths = "Paths of ctx.fs are plain text with “/”. Use a pure package such as pathe to join them.";

/** By the name without `node:`. A name stands for the modules below it, too, such as `fs/promises`. */
const adviceByModule: Record<string, string> = {
  assert: "Throw an Error, or install the pure package “assert”.",
  async_hooks: "Pass values as arguments.",
  buffer: "Use Uint8Array, with TextEncoder and TextDecoder, btoa and atob, or install the pure package “buffer”.",
  child_process: commands,
  cluster: threads,
  console: "console is a global; ctx.log has levels, too.",
  constants: files,
  crypto: "Use the global crypto: crypto.randomUUID(), crypto.getRandomValues() and crypto.subtle.",
  dgram: sockets,
  diagnostics_channel: diagnostics,
  dns: sockets,
  domain: "Catch errors with try and catch.",
  events: "Use the global EventTarget, or install the pure package “events”.",
  fs: files,
  http: requests,
  http2: requests,
  https: requests,
  inspector: diagnostics,
  module: "Import modules with `import`: the bundle contains them.",
  net: sockets,
  os: settings,
  path: paths,
  perf_hooks: "Use the global performance.",
  process: settings,
  punycode: "new URL() converts host names, or install the pure package “punycode”.",
  querystring: "Use the global URLSearchParams.",
  readline: terminal,
  repl: terminal,
  sea: noEvaluation,
  sqlite: "Use ctx.state, or ctx.storage for what is large or rarely needed.",
  stream: streams,
  string_decoder: "Use the global TextDecoder with { stream: true }.",
  sys: "Use a pure package such as “util”.",
  test: "Keep tests in files that the agent does not import; see @thinkery/sdk/agent-test.",
  timers: "setTimeout and setInterval are globals; for later than this message, use the tool `schedule`.",
  tls: sockets,
  trace_events: diagnostics,
  tty: terminal,
  url: "Use the globals URL and URLSearchParams.",
  util: "Use structuredClone, TextEncoder and JSON, or install the pure package “util”.",
  v8: diagnostics,
  vm: noEvaluation,
  wasi: "Agents run no WebAssembly.",
  worker_threads: threads,
  zlib: "Use the globals CompressionStream and DecompressionStream.",
};

/** Packages without Node.js inside that have the name of a built-in module. */
export const purePackages: ReadonlySet<string> = new Set([
  "assert",
  "buffer",
  "events",
  "punycode",
  "querystring",
  "string_decoder",
  "url",
  "util",
]);

const otherRuntimes: { pattern: RegExp; explain(specifier: string): string }[] = [
  {
    pattern: /^(?:cloudflare|workers?|workerd):/,
    explain: () =>
      "it is part of Cloudflare’s Workers, and agents have no bindings. What an agent may use is in ctx: storage, fetch, fs, ai, tools.",
  },
  { pattern: /^bun(?:$|:)/, explain: () => "it is part of Bun. Use the Web’s globals and ctx." },
  { pattern: /^deno(?:$|:|\/)/i, explain: () => "it is part of Deno. Use the Web’s globals and ctx." },
  { pattern: /^electron(?:$|\/)/, explain: () => "it is part of Electron. Agents have no window." },
  {
    pattern: /^(?:npm|jsr):/,
    explain: (specifier) =>
      `such imports are Deno’s. Install the package and import “${specifier.replace(/^(?:npm|jsr):\/?/, "").replace(/(?<=.)@[^/]*/, "")}”.`,
  },
  {
    pattern: /^(?:https?:)?\/\//,
    explain: () => "modules are not loaded from the network. Install the package, or copy the file into yours.",
  },
  { pattern: /\.node$/, explain: () => "it is native code. Use a package that is written in JavaScript." },
  {
    pattern: /\.wasm$/,
    explain: () => "a version of an agent is one module of text, and its sandbox compiles no WebAssembly.",
  },
];

/** What may be blocked. Each match is looked at with `explainBlocked`. */
export const blockedPattern = new RegExp(
  ["^node:", ...otherRuntimes.map(({ pattern }) => pattern.source), `^(?:${builtinModules.join("|")})$`].join("|"),
  "i",
);

/** Returns why agents cannot import a module, if so. */
export function explainBlocked(specifier: string): string | undefined {
  const name = toBuiltinName(specifier);
  if (name !== undefined) {
    const advice =
      adviceByModule[name] ?? adviceByModule[name.split("/")[0] ?? ""] ?? adviceByModule[toPublicName(name)];
    return `Agents cannot import “${specifier}”: it is part of Node.js. ${advice ?? "Use what ctx and the Web’s globals have."}`;
  }
  const runtime = otherRuntimes.find(({ pattern }) => pattern.test(specifier));
  return runtime && `Agents cannot import “${specifier}”: ${runtime.explain(specifier)}`;
}

/** Returns the name of a module that is built into Node.js, without its prefix. */
export function toBuiltinName(specifier: string): string | undefined {
  if (specifier.startsWith("node:")) return specifier.slice("node:".length);
  return builtinModules.includes(specifier) ? specifier : undefined;
}

/** `_http_agent` belongs to `http`, `_stream_duplex` to `stream`. */
const toPublicName = (name: string): string => /^_([a-z]+?)(?:_|$)/.exec(name)?.[1] ?? "";
