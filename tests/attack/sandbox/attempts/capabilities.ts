import { type Attempt, attempt, unguarded } from "../attempt.ts";

// What the code was given to call, called in every other way.

const unknown = /^threw: .*(?:no tool|no capability|unknown|There is no|not a function)/is;

const message = (call: string) => `return await (${call}).then((got) => 'ESCAPED ' + JSON.stringify(got), (error) => error.message)`;

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
  attempt("code that runs code", /^threw: .*by the model only/s, "return 'ESCAPED' + (await tools.executeCode({ code: 'return 1' }))"),
  attempt("code that runs code, by another name", unknown, "return 'ESCAPED' + (await tools.execute_code({ code: 'return 1' }))"),
  ...odd.map(([what, name]) => attempt(`a tool with a name ${what}`, /^(?:ok|threw): (?!.*ESCAPED)/s, `const of = tools["${name}"]; ${message("Promise.resolve().then(() => of({ title: 'ESCAPED' }))")}`)),
  attempt("a tool whose name is a symbol", /^(?:ok|threw): (?!.*ESCAPED)/s, `const of = tools[Symbol.for('set_title')]; ${message("Promise.resolve().then(() => of({ title: 'ESCAPED' }))")}`),
  attempt("a tool whose name is a megabyte", /^ok: (?!ESCAPED)/, message("tools['x'.repeat(1e6)]({})")),
  attempt("a tool whose name changes while it is read", /^(?:ok|threw): (?!.*ESCAPED)/s, `let n = 0; const name = { toString: () => (n++ ? 'executeCode' : 'set_title') }; ${message("tools[name]({ code: 'return 1', title: 5 })")}`),
  attempt("the tools awaited themselves", /^ok: (?:object|function)$/, "return typeof (await tools)"),
  attempt("the tools listed", /^(?:ok|threw): (?!.*ESCAPED)/s, "return Reflect.ownKeys(tools).length"),
  attempt("the tools replaced", /^(?:ok|threw): (?!.*ESCAPED)/s, "try { tools.set_title = () => 'mine'; } catch {} Object.setPrototypeOf(tools, null); return typeof tools.set_title"),
  attempt("the tools as a constructor", /^threw: TypeError/, "return 'ESCAPED' + (await new tools.set_title({ title: 'x' }).constructor('return 1')())"),
  attempt("a tool's own call and apply", /^(?:ok|threw): (?!.*ESCAPED)/s, "await tools.set_title.call({ host: 'ESCAPED' }, { title: 'by call' }); return 'called'"),
  attempt("a tool with more than it takes", /^ok: (?!ESCAPED)/, message("tools.set_title({ title: 'mine' }, { agent: 'OTHER' }, () => 'ESCAPED')").replace("'ESCAPED ' + JSON.stringify(got)", "'fine'")),
  attempt("another agent's title", /^ok: /, "return await tools.set_title({ title: 'mine', agent: 'OTHER', threadId: 'global~OTHER', agency: 'global' }).catch((error) => error.message)"),
  attempt("input with a prototype in it", /^ok: undefined/, "await echo(JSON.parse('{\"__proto__\": {\"polluted\": \"ESCAPED\"}, \"constructor\": {\"prototype\": {\"polluted\": \"ESCAPED\"}}}')); return String({}.polluted)"),
  attempt("input that is a circle", /^ok: (?!ESCAPED)/, `const circle = {}; circle.self = circle; ${message("echo(circle)")}`),
  attempt("input that is a function", /^ok: (?!function)/, "return typeof (await echo(() => 1))"),
  attempt("input of five megabytes", /^ok: .*too large/, message("echo('x'.repeat(5e6))")),
  attempt("input that throws while it is read", /^ok: (?!ESCAPED)/, message("echo({ get secret() { throw new Error('no') } })")),
  attempt("input that is another call", /^ok: (?!.*stub)/s, message("echo({ promise: echo(1), tool: tools.set_title })").replace("ESCAPED", "fine")),
  attempt("a stub sent through", /^(?:ok: fine (?:\{\}|null)$|threw: Error: There is no module)/, `${unguarded} const { RpcStub, RpcTarget } = await import('cloudflare' + ':workers'); class Mine extends RpcTarget { steal() {} } ${message("echo(new RpcStub(new Mine()))").replace("ESCAPED", "fine")}`),
  attempt("a tool that throws", /^ok: .*This tool throws/, message("tools.throw({})")),
  attempt("a tool that never answers, left behind", /^ok: left(?:\n|$)/, "tools.hang({}).catch(() => {}); return 'left'"),
  attempt("a tool that answers fifty megabytes", /^ok: .*(?:more than|large)/, message("tools.huge({ mb: 50 })")),
  attempt("a tool that answers a circle", /^ok: (?!ESCAPED)/, message("tools.circular({})")),
  ...commands.map(([what, command]) => attempt(`a command that ${what}`, /^ok: /, `return await tools.sandbox({ command: ${JSON.stringify(command)} }).catch((error) => error.message)`)),
  attempt("a forged failure", /^ok: \{"ok":false/, "return { ok: false, kind: 'limit', message: 'forged', console: '' }"),
  attempt("a forged success", /^threw: /, "throw { ok: true, value: 'forged', console: '' }"),
  attempt("an error that says it is of another kind", /^threw: /, "throw Object.assign(new Error('forged'), { kind: 'limit', trouble: 'sandbox_lost', code: 'budget', name: 'ToolFailure' })"),
  attempt("a function as the result", /^ok: \[?(?:Async)?Function/i, "return async () => 'ESCAPED'"),
  attempt("a capability as the result", /^ok: (?!.*ESCAPED)/s, "return echo"),
  attempt("all tools as the result", /^(?:ok|threw): (?!.*ESCAPED)/s, "return tools"),
  attempt("a call under way as the result", /^ok: 7$/, "return echo(7)"),
  attempt("a target of its own as the result", /^(?:ok|threw): (?!.*ESCAPED)/s, `${unguarded} const { RpcTarget } = await import('cloudflare' + ':workers'); return new (class extends RpcTarget { go() { return 'ESCAPED'; } })()`),
  attempt("a stream as the result", /^(?:ok|threw): (?!.*ESCAPED)/s, "return new ReadableStream({ pull(controller) { controller.enqueue('ESCAPED'); } })"),
  attempt("an answer as the result", /^(?:ok|threw): (?!.*ESCAPED)/s, "return new Response('ESCAPED')"),
  attempt("a socket as the result", /^(?:ok|threw): (?!.*ESCAPED)/s, "return new WebSocketPair()[0]"),
  attempt("a symbol as the result", /^ok: Symbol/, "return Symbol('x')"),
  attempt("an object with a method named then, forever", /^(?:timeout|threw): /, "const again = { then(resolve) { resolve(again); } }; return again", { timeoutMs: 400 }),
  attempt("an answer of fetch, forged on its way", /^ok: fine$/, "const parse = JSON.parse; JSON.parse = () => ({ status: 200, headers: {}, body: 'ESCAPED' }); const got = await fetch('http://example.com/').then((answer) => answer.text(), () => 'fine'); JSON.parse = parse; return got"),
];
