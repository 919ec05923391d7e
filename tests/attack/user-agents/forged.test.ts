import { agentCapabilities } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../../kit/host-process.ts";
import { sample } from "../../kit/sample.ts";
import { ask, askJson, deployAgent, readState, runTurn, startAgentHost } from "../../kit/user-agent.ts";
import { createRawAgent } from "./raw-agent.ts";

// Responses and descriptions that defineAgent would never send.

let host: HostProcess;

beforeAll(async () => {
  host = await startAgentHost({
    config: {
      sandboxSlots: 0,
      agentSlots: 2,
      sandbox: { stallTimeoutSeconds: 20, memoryMb: 128 },
      turn: { heartbeatSeconds: 1 },
    },
  });
});

afterAll(() => host?.stop());

/** Returns what a text tells about the host, if anything. Stacks of the agent's own code may be in it. */
const findLeak = (text: string): string | undefined =>
  [host.token, host.home, "node_modules", "main.js", "/thinkery/", "/tmp/", "/work/"].find((leak) =>
    text.includes(leak),
  );

const json = (value: string) => `return Response.json(${value});`;

/** Handlers whose turn has to fail. */
const forgedResponses: Record<string, string> = {
  "no JSON": 'return new Response("not JSON");',
  "half of its JSON": 'return new Response(\'{"state":{"set":{}\');',
  "an empty body": 'return new Response("");',
  null: json("null"),
  "a list": json("[]"),
  "a number": json("5"),
  "an empty object": json("{}"),
  "a state that is no object": json("{ state: 5 }"),
  "a state without changes": json("{ state: {} }"),
  "changes that are a list": json("{ state: { set: [], deleted: [] } }"),
  "deleted keys that are an object": json("{ state: { set: {}, deleted: {} } }"),
  "deleted keys that are numbers": json("{ state: { set: {}, deleted: [5] } }"),
  "a body of 50 MB": 'return new Response("x".repeat(50e6));',
  "JSON of 20 MB": json('{ state: { set: { a: "x".repeat(20e6) }, deleted: [] } }'),
  "a state of 2 MB": json('{ state: { set: { a: "x".repeat(2e6) }, deleted: [] } }'),
  "a million keys": json(
    '{ state: { set: Object.fromEntries(Array.from({ length: 1e6 }, (_, i) => ["k" + i, 1])), deleted: [] } }',
  ),
  "300,000 keys": json(
    '{ state: { set: Object.fromEntries(Array.from({ length: 3e5 }, (_, i) => ["k" + i, 1])), deleted: [] } }',
  ),
  "a value 200,000 levels deep":
    'return new Response(\'{"state":{"set":{"a":\' + "[".repeat(2e5) + "]".repeat(2e5) + \'},"deleted":[]}}\');',
  "status 404": "return new Response(null, { status: 404 });",
  "status 599": "return new Response('{}', { status: 599 });",
  "a redirect": "return Response.redirect('http://127.0.0.1/', 302);",
  "no content": "return new Response(null, { status: 204 });",
  "an error without a name": "return Response.json({ error: {} }, { status: 500 });",
  "an error of 9 MB":
    'return Response.json({ error: { name: "E", message: "x".repeat(4e6), stack: "y\\n    at z".repeat(4e5) } }, { status: 500 });',
  "a thrown value": "throw 5;",
  "a thrown Proxy": "throw new Proxy({}, { get() { throw new Error('no'); } });",
  "an error of 20 MB": 'throw new Error("x".repeat(20e6));',
  "an error that claims to be the host's":
    'throw Object.assign(new Error("no"), { name: "TurnError", code: "budget", ok: true, ended: "silence" });',
  "a socket": "return new Response(null, { status: 101, webSocket: new WebSocketPair()[0] });",
  "a number as response": "return 5;",
  "an object as response": "return { status: '200', text: () => '{}' };",
  "a status that is no number": 'return { status: NaN, text: () => \'{"state":{"set":{},"deleted":[]}}\' };',
  "a text that is no text": "return { status: 200, text: () => ({ state: { set: {}, deleted: [] } }) };",
  "a text that throws": "return { status: 200, text() { throw new Error('no'); } };",
  "an outcome instead of a response": 'return { ok: true, status: 200, body: \'{"state":{"set":{},"deleted":[]}}\' };',
  "a stub as text": "return { status: 200, text: () => env.HOST };",
  "a stream that fails":
    "return new Response(new ReadableStream({ pull(controller) { controller.error(new Error('no')); } }));",
};

test(
  "a response that is no valid result fails the turn, changes nothing, and does no other harm",
  { timeout: 240_000 },
  async () => {
    const cases = Object.entries(forgedResponses).map(
      ([name, code]) => `if (payload.message.content === ${JSON.stringify(name)}) { ${code} }`,
    );
    const onMessage = `
    await call("storage.set", { key: "forged", value: payload.message.content });
    ${cases.join("\n")}
    if (payload.message.content === "fine") {
      await say("fine");
      return Response.json({ state: { set: { fine: true }, deleted: [] } });
    }`;
    await deployAgent(host.client, "forger", createRawAgent({ onMessage }), { capabilities: [...agentCapabilities] });
    const kindOf = () => "response";
    const params = { agency: "global", agent: "forger" };
    for (const name of sample(Object.keys(forgedResponses), { name: "forged responses", size: 14, kindOf })) {
      const { status, content, failure } = await runTurn(host.client, "forger", name);
      expect([name, status, content]).toEqual([name, "error", ""]);
      expect([name, failure?.message.length]).toEqual([name, expect.any(Number)]);
      expect([name, Number(failure?.message.length) < 20_000, findLeak(failure?.message ?? "")]).toEqual([
        name,
        true,
        undefined,
      ]);
      expect([name, failure?.code]).toEqual([name, expect.not.stringMatching(/budget|internal/)]);
      const { code, codeValues = [] } = await host.client.call("exportAgent", { params });
      expect([name, JSON.stringify(code?.state).slice(0, 100), codeValues]).toEqual([name, "{}", []]);
    }
    expect(await ask(host.client, "forger", "fine")).toBe("fine");
    expect(await readState(host.client, "forger")).toEqual({ fine: true });
    expect((await host.client.call("health")).restarts).toBe(0);
  },
);

test("keys such as __proto__ are keys of the state and of the storage like others", async () => {
  const keys = ["__proto__", "constructor", "toString", "hasOwnProperty", "then", "", "a.b", "\0", "\u2028"];
  await deployAgent(
    host.client,
    "poisoner",
    createRawAgent({
      onMessage: `
        const keys = ${JSON.stringify(keys)};
        if (payload.message.content === "read") {
          const stored = [];
          for (const key of keys) stored.push(key === "" ? "refused: " : await call("storage.get", { key }));
          return void (await say({ state: Object.entries(payload.state), stored, polluted: String({}.polluted) }));
        }
        for (const key of keys) await call("storage.set", '{"key":' + JSON.stringify(key) + ',"value":{"__proto__":{"polluted":"ESCAPED"},"polluted":"own"}}');
        const set = keys.map((key) => JSON.stringify(key) + ':{"polluted":"own","__proto__":{"polluted":"ESCAPED"}}').join(",");
        return new Response('{"state":{"set":{' + set + '},"deleted":["valueOf","__defineGetter__"]},"__proto__":{"output":"ESCAPED"}}');`,
    }),
    { capabilities: [] },
  );
  expect(await ask(host.client, "poisoner", "write")).toBe("");
  const read = (await askJson(host.client, "poisoner", "read")) as {
    state: [string, unknown][];
    stored: string[];
    polluted: string;
  };
  expect(read.polluted).toBe("undefined");
  expect(read.state.map(([key]) => key).filter((key) => !keys.includes(key))).toEqual([]);
  expect(read.state.length).toBeGreaterThanOrEqual(keys.length - 1);
  for (const stored of read.stored.filter((text) => !text.startsWith("refused")))
    expect(stored).toContain('"polluted":"own"');
  // Nothing of it is found where others look.
  await deployAgent(
    host.client,
    "clean",
    createRawAgent({ onMessage: "await say({ state: payload.state, settings: payload.settings });" }),
  );
  expect(await askJson(host.client, "clean")).toEqual({ state: {}, settings: {} });
  expect(JSON.stringify([await host.client.call("health"), await host.client.agent("clean").state()])).not.toMatch(
    /polluted|ESCAPED/,
  );
});

const withTool = (tool: string) =>
  `normal.tools = [{ name: "t", description: "d", parameters: { type: "object", properties: {} }, ...(${tool}) }];`;

/** What code says about itself at its deploy. */
const hostileDescriptions: Record<string, string> = {
  "a description of a tool of 50 MB": withTool('{ description: "x".repeat(50e6) }'),
  "a description of a tool of 9 MB": withTool('{ description: "x".repeat(9e6) }'),
  "a recursive schema": withTool('{ parameters: { type: "object", properties: { a: { $ref: "#" } } } }'),
  "a schema that refers to itself twice": withTool(
    '{ parameters: { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] } } } }',
  ),
  "a schema 3,000 levels deep": withTool(
    '{ parameters: Array.from({ length: 3000 }).reduce((inner) => ({ type: "object", properties: { a: inner } }), { type: "string" }) }',
  ),
  "a schema of 5 MB": withTool('{ parameters: { type: "object", description: "x".repeat(5e6) } }'),
  "a schema of a text": withTool('{ parameters: { type: "string" } }'),
  "a schema that is a list": withTool("{ parameters: [] }"),
  "a schema with a million properties": withTool(
    '{ parameters: { type: "object", properties: Object.fromEntries(Array.from({ length: 3e5 }, (_, i) => ["p" + i, {}])) } }',
  ),
  "a tool without a description": withTool('{ description: "" }'),
  "a tool with a line break in its name": withTool('{ name: "a\\nb" }'),
  "a tool with an escape sequence in its name": withTool('{ name: "\\u001b[31mred" }'),
  "a tool with a long name": withTool('{ name: "x".repeat(41) }'),
  "a tool twice": `${withTool("{}")} normal.tools.push(normal.tools[0]);`,
  "33 tools":
    'normal.tools = Array.from({ length: 33 }, (_, i) => ({ name: "t" + i, description: "d", parameters: { type: "object" } }));',
  "tools that are an object": "normal.tools = { t: {} };",
  "a setting of 5 MB": 'normal.settings = { a: { type: "text", description: "x".repeat(5e6) } };',
  "a setting named like a prototype":
    'normal.settings = JSON.parse(\'{"__proto__": {"type": "toggle"}, "a-b": {"type": "toggle"}}\');',
  "a setting of an unknown type": 'normal.settings = { a: { type: "secret" } };',
  "10,000 settings":
    'normal.settings = Object.fromEntries(Array.from({ length: 1e4 }, (_, i) => ["s" + i, { type: "toggle" }]));',
  "a negative history": "normal.history = { maxMessages: -1 };",
  "an endless history": "normal.history = { maxMessages: 1e9 };",
  "a billion messages at once": "normal.concurrency = 1e9;",
  "no handles": "delete normal.handles;",
  "a batch that is a text": 'normal.batch = "yes";',
  "an initial state of 40 MB": 'normal.initialState = { a: "x".repeat(40e6) };',
  "no text": "return { status: 200, text: () => env.HOST };",
  "no status": "return { status: 5, text: () => '{}' };",
  "no JSON": 'return new Response("not JSON");',
  null: 'return new Response("null");',
  "status 500": 'return Response.json({ error: { name: "E", message: "x".repeat(1e6) } }, { status: 500 });',
  "a thrown error of 20 MB": 'throw new Error("x".repeat(20e6));',
  "calls while it loads": 'return new Response(await env.HOST.call("storage.get", "{}"));',
};

test(
  "a description that is not valid is refused with a short reason, and deploys nothing",
  { timeout: 240_000 },
  async () => {
    const kindOf = () => "description";
    const codes = sample(Object.entries(hostileDescriptions), { name: "hostile descriptions", size: 12, kindOf });
    for (const [name, code] of codes) {
      const describe = `${code}\nreturn Response.json(normal);`;
      const error = await deployAgent(host.client, "hostile", createRawAgent({ describe })).then(
        () => ({ code: "deployed", message: "" }),
        (thrown: { code: string; message: string }) => thrown,
      );
      expect([name, error.code, error.message.length < 25_000]).toEqual([name, "bad_request", true]);
      expect([name, findLeak(error.message)]).toEqual([name, undefined]);
    }
    const { packages } = await host.client.call("listPackages", { params: { agency: "global" } });
    expect(packages.map(({ name }) => name)).not.toContain("hostile");
    expect((await host.client.call("health")).restarts).toBe(0);
  },
);

test("control characters in texts of a package do not reach a terminal", async () => {
  const evil = "\u001b[2J\u001b]0;owned\u0007\u009b31mred\rover\u0000";
  const description = `normal.tools = [{ name: "t", description: ${JSON.stringify(evil)}, parameters: { type: "object", properties: {} } }];`;
  const describe = `${description}\nreturn Response.json(normal);`;
  const onMessage = `await call("log", { level: "info", text: ${JSON.stringify(evil)} }); throw new Error(${JSON.stringify(evil)});`;
  await deployAgent(host.client, "terminal", createRawAgent({ describe, onMessage }), {
    displayName: evil,
    description: evil,
  });
  expect((await runTurn(host.client, "terminal", "x")).status).toBe("error");
  for (const args of [
    ["agent", "list"],
    ["logs", "terminal"],
    ["agent", "logs", "terminal"],
    ["call", "terminal", "x"],
  ]) {
    const { stdout, stderr } = await host.runCli(args);
    // oxlint-disable-next-line no-control-regex -- what it looks for
    expect([args, stdout + stderr]).toEqual([args, expect.not.stringMatching(/[\u0000\u0007\u001b\u009b]|\rover/)]);
  }
});
