import { type Attempt, createAttempt, unguarded } from "../attempt.ts";

// What the code was given to call, called in every other way.

const unknown = /^threw: .*(?:no tool|no capability|unknown|There is no|not a function)/is;

const buildCallCode = (call: string) =>
  `return await (${call}).then((got) => 'ESCAPED ' + JSON.stringify(got), (error) => error.message)`;

/** Commands for the agent's Linux sandbox, where there is one. */
const commands: [string, string][] = [
  ["reads the token", "cat HOME/token HOME/files/canary.txt"],
  ["looks for the data folder", "ls -d HOME HOME/.. /root /home/* /tmp/* 2>&1"],
  ["reads the environment of others", "cat /proc/[0-9]*/environ; env"],
  ["visits this machine", "exec 3<>/dev/tcp/127.0.0.1/PORT && echo ESC''APED"],
  ["ends every process", "kill -9 -1; for i in $(seq 1 300); do kill -9 $i 2>/dev/null; done; echo tried"],
];

/** Names that are something else on most objects. */
const odd: [string, string][] = [
  ["of a prototype", "__proto__"],
  ["of a constructor", "constructor"],
  ["of a method of every object", "hasOwnProperty"],
  ["of another capability's kind", "tools.set_title"],
  ["of a way up", "../fetch"],
  ["with a line break", "set_title\\nfetch"],
  ["with a zero byte", "set_title\\u0000"],
  ["of the door's own", "shut"],
  ["of a private field", "#options"],
  ["of nothing", ""],
];

export const capabilities: readonly Attempt[] = [
  createAttempt(
    "code that runs code",
    /^threw: .*by the model only/s,
    "return 'ESCAPED' + (await tools.executeCode({ code: 'return 1' }))",
  ),
  createAttempt(
    "code that runs code, by another name",
    unknown,
    "return 'ESCAPED' + (await tools.execute_code({ code: 'return 1' }))",
  ),
  ...odd.map(([what, name]) =>
    createAttempt(
      `a tool with a name ${what}`,
      /^(?:ok|threw): (?!.*ESCAPED)/s,
      `const of = tools["${name}"]; ${buildCallCode("Promise.resolve().then(() => of({ title: 'ESCAPED' }))")}`,
    ),
  ),
  createAttempt(
    "a tool whose name is a symbol",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    `const of = tools[Symbol.for('set_title')]; ${buildCallCode("Promise.resolve().then(() => of({ title: 'ESCAPED' }))")}`,
  ),
  createAttempt("a tool whose name is a megabyte", /^ok: (?!ESCAPED)/, buildCallCode("tools['x'.repeat(1e6)]({})")),
  createAttempt(
    "a tool whose name changes while it is read",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    `let n = 0; const name = { toString: () => (n++ ? 'executeCode' : 'set_title') }; ${buildCallCode("tools[name]({ code: 'return 1', title: 5 })")}`,
  ),
  createAttempt("the tools awaited themselves", /^ok: (?:object|function)$/, "return typeof (await tools)"),
  createAttempt("the tools listed", /^(?:ok|threw): (?!.*ESCAPED)/s, "return Reflect.ownKeys(tools).length"),
  createAttempt(
    "the tools replaced",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    "try { tools.set_title = () => 'mine'; } catch {} Object.setPrototypeOf(tools, null); return typeof tools.set_title",
  ),
  createAttempt(
    "the tools as a constructor",
    /^threw: TypeError/,
    "return 'ESCAPED' + (await new tools.set_title({ title: 'x' }).constructor('return 1')())",
  ),
  createAttempt(
    "a tool's own call and apply",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    "await tools.set_title.call({ host: 'ESCAPED' }, { title: 'by call' }); return 'called'",
  ),
  createAttempt(
    "a tool with more than it takes",
    /^ok: (?!ESCAPED)/,
    buildCallCode("tools.set_title({ title: 'mine' }, { agent: 'OTHER' }, () => 'ESCAPED')").replace(
      "'ESCAPED ' + JSON.stringify(got)",
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
    "input that is a circle",
    /^ok: (?!ESCAPED)/,
    `const circle = {}; circle.self = circle; ${buildCallCode("echo(circle)")}`,
  ),
  createAttempt("input that is a function", /^ok: (?!function)/, "return typeof (await echo(() => 1))"),
  createAttempt("input of five megabytes", /^ok: .*too large/, buildCallCode("echo('x'.repeat(5e6))")),
  createAttempt(
    "input that throws while it is read",
    /^ok: (?!ESCAPED)/,
    buildCallCode("echo({ get secret() { throw new Error('no') } })"),
  ),
  createAttempt(
    "input that is another call",
    /^ok: (?!.*stub)/s,
    buildCallCode("echo({ promise: echo(1), tool: tools.set_title })").replace("ESCAPED", "fine"),
  ),
  createAttempt(
    "a stub sent through",
    /^(?:ok: fine (?:\{\}|null)$|threw: Error: There is no module)/,
    `${unguarded} const { RpcStub, RpcTarget } = await import('cloudflare' + ':workers'); class Mine extends RpcTarget { steal() {} } ${buildCallCode("echo(new RpcStub(new Mine()))").replace("ESCAPED", "fine")}`,
  ),
  createAttempt("a tool that throws", /^ok: .*This tool throws/, buildCallCode("tools.throw({})")),
  createAttempt(
    "a tool that never answers, left behind",
    /^ok: left(?:\n|$)/,
    "tools.hang({}).catch(() => {}); return 'left'",
  ),
  createAttempt(
    "a tool that answers fifty megabytes",
    /^ok: .*(?:more than|large)/,
    buildCallCode("tools.huge({ mb: 50 })"),
  ),
  createAttempt("a tool that answers a circle", /^ok: (?!ESCAPED)/, buildCallCode("tools.circular({})")),
  ...commands.map(([what, command]) =>
    createAttempt(
      `a command that ${what}`,
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
    "an error that says it is of another kind",
    /^threw: /,
    "throw Object.assign(new Error('forged'), { kind: 'limit', trouble: 'sandbox_lost', code: 'budget', name: 'ToolFailure' })",
  ),
  createAttempt("a function as the result", /^ok: \[?(?:Async)?Function/i, "return async () => 'ESCAPED'"),
  createAttempt("a capability as the result", /^ok: (?!.*ESCAPED)/s, "return echo"),
  createAttempt("all tools as the result", /^(?:ok|threw): (?!.*ESCAPED)/s, "return tools"),
  createAttempt("a call under way as the result", /^ok: 7$/, "return echo(7)"),
  createAttempt(
    "a target of its own as the result",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    `${unguarded} const { RpcTarget } = await import('cloudflare' + ':workers'); return new (class extends RpcTarget { go() { return 'ESCAPED'; } })()`,
  ),
  createAttempt(
    "a stream as the result",
    /^(?:ok|threw): (?!.*ESCAPED)/s,
    "return new ReadableStream({ pull(controller) { controller.enqueue('ESCAPED'); } })",
  ),
  createAttempt("an answer as the result", /^(?:ok|threw): (?!.*ESCAPED)/s, "return new Response('ESCAPED')"),
  createAttempt("a socket as the result", /^(?:ok|threw): (?!.*ESCAPED)/s, "return new WebSocketPair()[0]"),
  createAttempt("a symbol as the result", /^ok: Symbol/, "return Symbol('x')"),
  createAttempt(
    "an object with a method named then, forever",
    /^(?:timeout|threw): /,
    "const again = { then(resolve) { resolve(again); } }; return again",
    { timeoutMs: 400 },
  ),
  createAttempt(
    "an answer of fetch, forged on its way",
    /^ok: fine$/,
    "const parse = JSON.parse; JSON.parse = () => ({ status: 200, headers: {}, body: 'ESCAPED' }); const got = await fetch('http://example.com/').then((answer) => answer.text(), () => 'fine'); JSON.parse = parse; return got",
  ),
];
