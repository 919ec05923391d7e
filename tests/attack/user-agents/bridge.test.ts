import { type AgentCapability, agentCapabilities } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProcess } from "../../kit/host-process.ts";
import { sample } from "../../kit/sample.ts";
import { ask, askJson, deployAgent, readLog, readState, runTurn, startAgentHost } from "../../kit/user-agent.ts";
import { createRawAgent } from "./raw-agent.ts";

// Code that calls its host directly, without defineAgent in between.

let host: HostProcess;

beforeAll(async () => {
  host = await startAgentHost({
    config: {
      sandboxSlots: 1,
      agentSlots: 3,
      model: "scripted:any",
      sandbox: { stallTimeoutSeconds: 20 },
      turn: { heartbeatSeconds: 1 },
    },
    scripts: { any: { exchanges: [{ steps: [{ text: "ESCAPED" }] }] } },
  });
});

afterAll(() => host?.stop());

/** Calls that need a capability, with valid input. */
const guardedCalls: Record<AgentCapability, Record<string, unknown>> = {
  ai: { "model.open": { messages: [{ role: "user", content: "hi" }] }, "model.read": { id: "model-1" } },
  tools: { "tools.execute": { calls: [{ name: "bash", input: { command: "echo ESCAPED" } }] } },
  fs: {
    "fs.readFile": { path: "a.txt" },
    "fs.writeFile": { path: "a.txt", content: { text: "ESCAPED" } },
    "fs.listFiles": {},
    "fs.deleteFile": { path: "a.txt" },
    "fs.moveFile": { from: "a.txt", to: "b.txt" },
  },
  bash: { bash: { command: "echo ESCAPED" } },
  fetch: { fetch: { url: "https://example.com/" } },
  channel: {
    "channel.send": { content: "hi" },
    "channel.update": { id: "channel-0", text: "ESCAPED" },
    "channel.complete": { id: "channel-0" },
    "channel.callTool": { name: "bash", input: { command: "echo ESCAPED" } },
  },
};

const inputs = Object.assign({}, ...Object.values(guardedCalls)) as Record<string, unknown>;

/** Names that are no calls, however they are put together. */
const oddNames = [
  ...agentCapabilities.flatMap((capability) =>
    ["bash", "fetch", "readFile", "tools.bash", "tools.execute", "echo", "fs.readFile", "__proto__", "constructor"].map(
      (name) => `${capability}.${name}`,
    ),
  ),

  "readFile",
  "writeFile",
  "echo",
  "executeCode",
  "set_title",
  "FS.readFile",
  "Bash",
  "fs .readFile",
  "fs..readFile",
  "fs.readFile\0",
  "fs.readFile ",
  "\nbash",
  "bash\n",
  "bash.",
  ".bash",
  "reply.bash",
  "storage.bash",
  "log.fetch",
  "",
  ".",
  "fs",
  "model",
  "tools",
  "channel",
  "storage",
  "history",
  "attachment",
  "x".repeat(200),
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "then",
  "call",
  "close",
  "#handlers",
].filter((name) => !Object.hasOwn(inputs, name));

test.for(["none", ...agentCapabilities] as const)(
  "an agent that was granted $0 can call nothing else",
  async (granted) => {
    const isGranted = granted !== "none";
    await deployAgent(
      host.client,
      `granted-${granted}`,
      createRawAgent({
        onMessage: `
          const results = {};
          for (const [name, input] of JSON.parse(payload.message.content)) results[name] = await call(name, input);
          await say(results);`,
      }),
      { capabilities: isGranted ? [granted] : [] },
    );
    const calls = [...Object.entries(inputs), ...oddNames.map((name) => [name, {}])];
    // What it sends through its channel comes first.
    const said = await ask(host.client, `granted-${granted}`, JSON.stringify(calls));
    const results = JSON.parse(said.slice(said.indexOf("{"))) as Record<string, string>;
    const isRefused = (name: string) =>
      /^refused: (?:The agent was not granted|There is no host call)/.test(results[name] ?? "");
    const reached = Object.keys(Object.fromEntries(calls as [string, unknown][])).filter(
      (name) => name !== "__proto__" && !isRefused(name),
    );
    expect(reached.toSorted()).toEqual(isGranted ? Object.keys(guardedCalls[granted]).toSorted() : []);
    for (const name of Object.keys(results).filter((candidate) => !reached.includes(candidate)))
      expect([name, results[name]]).toEqual([name, expect.not.stringContaining("ESCAPED")]);
  },
);

test("a host takes only names and JSON, and is not harmed by any other input", async () => {
  await deployAgent(
    host.client,
    "odd",
    createRawAgent({
      onMessage: `
        const deep = "[".repeat(200_000) + "]".repeat(200_000);
        const texts = ["", "{", "null", "[]", "5", '"x"', "{}", "true", '{"__proto__":{"key":"x"}}', '{"key":{"toString":1}}', '{"operations":[{}]}',
          '{"calls":[]}', '{"calls":[{"name":"bash","input":' + deep + '}]}', '{"key":"k","value":' + deep + '}', '{"messages":' + deep + '}',
          '{"id":"' + "x".repeat(1000) + '"}', JSON.stringify({ content: "x".repeat(2_000_000) }), JSON.stringify({ key: "k", value: "x".repeat(2_000_000) }),
          "x".repeat(11 * 1024 * 1024)];
        const names = ["reply", "model.open", "model.read", "model.close", "tools.execute", "history.read", "attachment.read", "storage.get", "storage.set",
          "storage.delete", "storage.list", "channel.send", "channel.update", "channel.complete", "channel.callTool", "log", "bash", "fetch", "fs.readFile", "fs.writeFile"];
        const results = {};
        for (const name of names) results[name] = await Promise.all(texts.map((text) => call(name, text).then((result) => result.slice(0, 300))));
        const values = [undefined, null, 5, {}, ["reply"], () => "reply", env.HOST, Symbol.iterator, new Map(), new ReadableStream(), { toString: () => "bash" }];
        results.values = await Promise.all(values.flatMap((value) => [[value, "{}"], ["storage.get", value], [value, value], ["log", value]]).map(async ([name, input]) => {
          try { return "got " + await env.HOST.call(name, input); } catch (error) { return "refused: " + String(error.message).slice(0, 300); }
        }));
        await say(results);`,
    }),
    { capabilities: [...agentCapabilities] },
  );
  const results = (await askJson(host.client, "odd")) as Record<string, string[]>;
  expect(Object.keys(results)).toHaveLength(21);
  for (const [name, outcomes] of Object.entries(results)) {
    for (const outcome of outcomes) {
      expect([name, outcome]).toEqual([name, expect.not.stringMatching(/node_modules|\/tmp\/|\.ts:\d|main\.js/)]);
      if (name === "values") expect([name, outcome]).toEqual([name, expect.stringContaining("refused: ")]);
    }
  }
  expect(await readState(host.client, "odd")).toEqual({});
  expect((await host.client.call("health")).restarts).toBe(0);
});

test("the host of one request is of no use in another, nor after its request", async () => {
  await deployAgent(
    host.client,
    "keeper",
    createRawAgent({
      onMessage: `
        const use = async (host, note) => {
          const results = [];
          for (const [name, input] of [["storage.set", { key: note, value: 1 }], ["log", { level: "info", text: note }], ["storage.get", { key: note }],
            ["reply", { operations: [{ reply: 0, type: "write", text: note }] }], ["tools.execute", { calls: [{ name: "bash", input: { command: "echo " + note + " > late.txt" } }] }]])
            results.push(await host.call(name, JSON.stringify(input)).then(() => "ESCAPED", (error) => error.message));
          return results;
        };
        if (payload.message.content === "keep") {
          const { HOST } = env;
          kept.push({ call: (...args) => HOST.call(...args) });
          for (let delay = 50; delay < 150; delay += 20)
            setTimeout(() => void use(HOST, "late").then((results) => kept.push(...results)), delay);
          return void (await say("kept"));
        }
        const inAnother = await use(kept[0], "late");
        await new Promise((resolve) => setTimeout(resolve, 300));
        await say({ inAnother, afterEnd: kept.slice(1) });`,
    }),
    { capabilities: [...agentCapabilities] },
  );
  expect(await ask(host.client, "keeper", "keep")).toBe("kept");
  const { inAnother, afterEnd } = (await askJson(host.client, "keeper", "use")) as Record<string, string[]>;
  expect(inAnother).toHaveLength(5);
  for (const result of [...(inAnother ?? []), ...(afterEnd ?? [])])
    expect(result).toMatch(/over|different request|closed|disposed/i);
  const exported = await host.client.call("exportAgent", { params: { agency: "global", agent: "keeper" } });
  expect(exported.codeValues).toEqual([]);
  expect(JSON.stringify(exported.messages)).not.toContain("late.txt");
  expect((await readLog(host.client, "keeper")).map(({ text }) => text)).not.toContain("late");
  expect(await host.client.agent("keeper").files()).toMatchObject({ files: [] });
});

const floods: Record<string, string> = {
  "calls at once":
    "await Promise.all(Array.from({ length: 20_000 }, (_, i) => call('storage.set', { key: 'k' + i, value: i })));",
  "calls of tools":
    "await Promise.all(Array.from({ length: 3000 }, (_, i) => call('tools.execute', { calls: [{ name: 'no_such_tool', input: { i } }] })));",
  "large values":
    "for (let i = 0; i < 60; i++) await call('storage.set', { key: 'v' + i, value: 'x'.repeat(1_000_000) });",
  "log lines":
    "await Promise.all(Array.from({ length: 20_000 }, (_, i) => call('log', { level: 'info', text: 'line ' + i })));",
  replies:
    "for (let i = 0; i < 500; i++) await call('reply', { operations: Array.from({ length: 100 }, (_, j) => ({ reply: i * 100 + j, type: 'write', text: 'x' })) });",
  text: "for (let i = 0; i < 60; i++) await call('reply', { operations: [{ reply: 1, type: 'write', text: 'x'.repeat(200_000) }] });",
  "model calls":
    "await Promise.all(Array.from({ length: 300 }, () => call('model.open', { messages: [{ role: 'user', content: 'hi' }] })));",
  activity:
    "await Promise.all(Array.from({ length: 5000 }, (_, i) => call('reply', { operations: [{ reply: 0, type: 'thinking', text: 'x'.repeat(1000) }] })));",
};

test("floods of calls end, and the host responds all the while", { timeout: 240_000 }, async () => {
  const cases = Object.entries(floods).map(
    ([name, code]) => `if (payload.message.content === ${JSON.stringify(name)}) { ${code} }`,
  );
  const handler = `${cases.join("\n")}\nawait call("reply", { operations: [{ reply: 0, type: "end" }] });`;
  await deployAgent(host.client, "flood", createRawAgent({ onMessage: handler }), {
    capabilities: [...agentCapabilities],
  });
  const kindOf = () => "flood";
  for (const name of sample(Object.keys(floods), { name: "floods of calls", size: 3, kindOf })) {
    let isOver = false;
    const turn = runTurn(host.client, "flood", name).finally(() => (isOver = true));
    let responses = 0;
    for (; !isOver; responses++) expect([name, (await fetch(`${host.url}/health`)).status]).toEqual([name, 200]);
    expect([name, (await turn).status]).toEqual([name, expect.stringMatching(/^(?:completed|failed|error)$/)]);
    expect([name, responses > 0]).toEqual([name, true]);
  }
  expect((await host.client.call("health")).restarts).toBe(0);
  expect((await readLog(host.client, "flood", { limit: 500 })).length).toBeLessThanOrEqual(500);
});
