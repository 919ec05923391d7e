import { type Attempt, createAttempt, unguarded } from "../attempt.ts";

// Misuse of the capabilities that the code was given.

const unknownTool = /^threw: .*(?:no tool|no capability|unknown|There is no|not a function)/is;

const buildCallCode = (call: string) =>
  `return await (${call}).then((result) => 'ESCAPED ' + JSON.stringify(result), (error) => error.message)`;

/** Commands for the agent's Linux sandbox, where there is one. */
const commands: [string, string][] = [
  ["reads the token", "cat HOME/token HOME/files/canary.txt"],
  ["searches for the data folder", "ls -d HOME HOME/.. /root /home/* /tmp/* 2>&1"],
  ["reads the environment of other processes", "cat /proc/[0-9]*/environ; env"],
  ["connects to this machine", "exec 3<>/dev/tcp/127.0.0.1/PORT && echo ESC''APED"],
  ["kills every process", "kill -9 -1; for i in $(seq 1 300); do kill -9 $i 2>/dev/null; done; echo tried"],
];

/** Names that have a meaning on most objects, and other odd names. */
const oddNames: [string, string][] = [
  ["of prototypes", "__proto__"],
  ["of constructors", "constructor"],
  ["of a method of every object", "hasOwnProperty"],
  ["of another capability", "tools.set_title"],
  ["of a path traversal", "../fetch"],
  ["with a line break", "set_title\\nfetch"],
  ["with a zero byte", "set_title\\u0000"],
  ["of the bridge's own", "close"],
  ["of a private field", "#options"],
  ["that is empty", ""],
];

export const capabilities: readonly Attempt[] = [
  createAttempt(
    "code that runs code",
    /^threw: .*only be called by the model/s,
    "return 'ESCAPED' + (await tools.executeCode({ code: 'return 1' }))",
  ),
  createAttempt(
    "code that runs code, under another name",
    unknownTool,
    "return 'ESCAPED' + (await tools.execute_code({ code: 'return 1' }))",
  ),
  ...oddNames.map(([kind, name]) =>
    createAttempt(
      `a tool with the name ${kind}`,
      /^(?:ok|threw): (?!.*ESCAPED)/s,
      `const tool = tools["${name}"]; ${buildCallCode("Promise.resolve().then(() => tool({ title: 'ESCAPED' }))")}`,
    ),
  ),
  createAttempt(
    "a tool whose name is a symbol",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    `const tool = tools[Symbol.for('set_title')]; ${buildCallCode("Promise.resolve().then(() => tool({ title: 'ESCAPED' }))")}`,
  ),
  createAttempt("a tool with a name of a megabyte", /^ok: (?!ESCAPED)/, buildCallCode("tools['x'.repeat(1e6)]({})")),
  createAttempt(
    "a tool whose name changes while it is read",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    `let n = 0; const name = { toString: () => (n++ ? 'executeCode' : 'set_title') }; ${buildCallCode("tools[name]({ code: 'return 1', title: 5 })")}`,
  ),
  createAttempt("awaiting the tools object", /^ok: (?:object|function)$/, "return typeof (await tools)"),
  createAttempt("listing the tools", /^(?:ok|threw): (?!.*ESCAPED)/s, "return Reflect.ownKeys(tools).length"),
  createAttempt(
    "replacing the tools",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    "try { tools.set_title = () => 'mine'; } catch {} Object.setPrototypeOf(tools, null); return typeof tools.set_title",
  ),
  createAttempt(
    "using a tool as a constructor",
    /^threw: TypeError/,
    "return 'ESCAPED' + (await new tools.set_title({ title: 'x' }).constructor('return 1')())",
  ),
  createAttempt(
    "a tool's call method",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    "await tools.set_title.call({ host: 'ESCAPED' }, { title: 'by call' }); return 'called'",
  ),
  createAttempt(
    "a tool with too many arguments",
    /^ok: (?!ESCAPED)/,
    buildCallCode("tools.set_title({ title: 'mine' }, { agent: 'OTHER' }, () => 'ESCAPED')").replace(
      "'ESCAPED ' + JSON.stringify(result)",
      "'fine'",
    ),
  ),
  createAttempt(
    "another agent's title",
    /^ok: /,
    "return await tools.set_title({ title: 'mine', agent: 'OTHER', threadId: 'global~OTHER', agency: 'global' }).catch((error) => error.message)",
  ),
  createAttempt(
    "input with a prototype in it",
    /^ok: undefined/,
    'await echo(JSON.parse(\'{"__proto__": {"polluted": "ESCAPED"}, "constructor": {"prototype": {"polluted": "ESCAPED"}}}\')); return String({}.polluted)',
  ),
  createAttempt(
    "circular input",
    /^ok: (?!ESCAPED)/,
    `const circle = {}; circle.self = circle; ${buildCallCode("echo(circle)")}`,
  ),
  createAttempt("a function as input", /^ok: (?!function)/, "return typeof (await echo(() => 1))"),
  createAttempt("input of five megabytes", /^ok: .*too large/, buildCallCode("echo('x'.repeat(5e6))")),
  createAttempt(
    "input that throws while it is read",
    /^ok: (?!ESCAPED)/,
    buildCallCode("echo({ get secret() { throw new Error('no') } })"),
  ),
  createAttempt(
    "input with promises and tools",
    /^ok: (?!.*stub)/s,
    buildCallCode("echo({ promise: echo(1), tool: tools.set_title })").replace("ESCAPED", "fine"),
  ),
  createAttempt(
    "a stub as input",
    /^(?:ok: fine (?:\{\}|null)$|threw: Error: There is no module)/,
    `${unguarded} const { RpcStub, RpcTarget } = await import('cloudflare' + ':workers'); class Mine extends RpcTarget { steal() {} } ${buildCallCode("echo(new RpcStub(new Mine()))").replace("ESCAPED", "fine")}`,
  ),
  createAttempt("a tool that throws", /^ok: .*This tool throws/, buildCallCode("tools.throw({})")),
  createAttempt(
    "a tool that never returns, not awaited",
    /^ok: left(?:\n|$)/,
    "tools.hang({}).catch(() => {}); return 'left'",
  ),
  createAttempt(
    "a tool that returns fifty megabytes",
    /^ok: .*(?:more than|large)/,
    buildCallCode("tools.huge({ mb: 50 })"),
  ),
  createAttempt("a tool that returns a circular object", /^ok: (?!ESCAPED)/, buildCallCode("tools.circular({})")),
  ...commands.map(([action, command]) =>
    createAttempt(
      `a command that ${action}`,
      /^ok: /,
      `return await tools.sandbox({ command: ${JSON.stringify(command)} }).catch((error) => error.message)`,
    ),
  ),
  createAttempt(
    "a forged failure",
    /^ok: \{"ok":false/,
    "return { ok: false, kind: 'limit', message: 'forged', console: '' }",
  ),
  createAttempt("a forged success", /^threw: /, "throw { ok: true, value: 'forged', console: '' }"),
  createAttempt(
    "an error that claims another kind",
    /^threw: /,
    "throw Object.assign(new Error('forged'), { kind: 'limit', trouble: 'sandbox_lost', code: 'budget', name: 'ToolError' })",
  ),
  createAttempt("a function as the result", /^ok: \[?(?:Async)?Function/i, "return async () => 'ESCAPED'"),
  createAttempt("a capability as the result", /^ok: (?!.*ESCAPED)/s, "return echo"),
  createAttempt("all tools as the result", /^(?:ok|threw): (?!.*ESCAPED)/s, "return tools"),
  createAttempt("a pending call as the result", /^ok: 7$/, "return echo(7)"),
  createAttempt(
    "its own RpcTarget as the result",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    `${unguarded} const { RpcTarget } = await import('cloudflare' + ':workers'); return new (class extends RpcTarget { go() { return 'ESCAPED'; } })()`,
  ),
  createAttempt(
    "a stream as the result",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    "return new ReadableStream({ pull(controller) { controller.enqueue('ESCAPED'); } })",
  ),
  createAttempt("a Response as the result", /^(?:ok|threw): (?!.*ESCAPED)/s, "return new Response('ESCAPED')"),
  createAttempt("a socket as the result", /^(?:ok|threw): (?!.*ESCAPED)/s, "return new WebSocketPair()[0]"),
  createAttempt("a symbol as the result", /^ok: Symbol/, "return Symbol('x')"),
  createAttempt(
    "an endless thenable",
    /^(?:timeout|threw): /,
    "const again = { then(resolve) { resolve(again); } }; return again",
    { timeoutMs: 400 },
  ),
  createAttempt(
    "a forged fetch response",
    /^ok: fine$/,
    "const parse = JSON.parse; JSON.parse = () => ({ status: 200, headers: {}, body: 'ESCAPED' }); const got = await fetch('http://example.com/').then((answer) => answer.text(), () => 'fine'); JSON.parse = parse; return got",
  ),
];
