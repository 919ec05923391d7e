import type { TestHost } from "@thinkery/sdk/test";
import type { ExpensiveRequest, LargeAgent } from "./expensive-request.ts";
import { deployAgent } from "./user-agent.ts";

/** Does what the message says: as much as it can have its host do with few calls. */
const expensiveCode = `
const numbers = (count) => Array.from({ length: count }, (_, i) => i % 10);
const call = (env, name, input) => env.HOST.call(name, typeof input === "string" ? input : JSON.stringify(input)).catch(() => {});
const respond = (set) => Response.json({ state: { set, deleted: [] } });
const inner = defineAgent({ onMessage() {} });
const handlers = {
  "a result of 10 MB": () => respond({ a: numbers(4_500_000) }),
  "a result with many keys": () => respond(Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => ["key " + i, i]))),
  "a deep result": () => new Response('{"state":{"set":{"a":' + "[".repeat(2_000_000) + "]".repeat(2_000_000) + '},"deleted":[]}}'),
  "a full state": () => respond(Object.fromEntries(Array.from({ length: 70_000 }, (_, i) => ["k" + i, i]))),
  async "values of small parts"(env) {
    for (let i = 0; i < 12; i++) await call(env, "storage.set", { key: "v" + i, value: numbers(500_000) });
    return respond({});
  },
  async "calls with inputs of 10 MB"(env) {
    const input = '{"calls":[{"name":"bash","input":' + JSON.stringify(numbers(4_500_000)) + '}]}';
    for (let i = 0; i < 3; i++) await call(env, "tools.execute", input);
    return respond({});
  },
  async "models with long conversations"(env) {
    const messages = Array.from({ length: 5000 }, () => ({ role: "user", content: "x".repeat(1500) }));
    for (let i = 0; i < 3; i++) await call(env, "model.open", { messages });
    return respond({});
  },
  async "long lines"(env) {
    const text = "line of a log ".repeat(1400);
    await Promise.all(Array.from({ length: 2000 }, () => call(env, "log", { level: "info", text })));
    return respond({});
  },
};
export default {
  async fetch(request, env) {
    if (!request.url.endsWith("/message")) return inner.fetch(request, env);
    const { message } = await request.json();
    return handlers[message.content](env);
  },
};`;

const settings = Object.fromEntries(
  Array.from({ length: 50 }, (_, index) => [
    `s${index}`,
    { type: "select" as const, options: Array.from({ length: 200 }, (__, option) => `${option} `.padEnd(200, "x")) },
  ]),
);

export const packageAgents: readonly LargeAgent[] = [
  {
    name: "coded",
    async create(host: TestHost) {
      await deployAgent(host.client, "coded", expensiveCode, { capabilities: ["ai", "tools"] });
      const params = { agency: "global", agent: "coded" };
      await (await host.client.agent("coded").send("long lines")).outcome();
      await host.client.call("listAgentLogs", { params });
    },
  },
  {
    name: "settled",
    async create(host) {
      const fields = Array.from({ length: 50 }, (_, index) => `t${index}: { type: "text" }`).join();
      const code = `export default defineAgent({ settings: { ${fields} }, onMessage() {} });`;
      await deployAgent(host.client, "settled", code);
    },
  },
];

const talk = (what: string): ExpensiveRequest => ({
  kind: "code",
  what,
  // The turn fails: what it wants is more than it may have.
  statuses: [200, 500, 503],
  agent: "coded",
  method: "POST",
  path: "/serve",
  body: { agent: "coded", message: what },
});

const deploy = (what: string, body: () => object): ExpensiveRequest => ({
  kind: "deploy",
  what,
  scope: "admin",
  statuses: [201, 400, 413],
  agent: "coded",
  method: "POST",
  path: "/agency/global/packages",
  body: () => ({
    name: "heavy",
    manifest: { type: "agent", runtime: "isolate" },
    code: describe(""),
    createAgent: false,
    ...body(),
  }),
});

/** Code whose description is changed by this. */
const describe = (change: string) => `import { defineAgent } from "/thinkery/sdk.js";
const inner = defineAgent({ onMessage() {} });
export default {
  async fetch(request, env) {
    const normal = await (await inner.fetch(request, env)).json();
    ${change}
    return Response.json(normal);
  },
};`;

const withTools = (parameters: string) =>
  describe(
    `normal.tools = Array.from({ length: 32 }, (_, i) => ({ name: "t" + i, description: "d", parameters: ${parameters} }));`,
  );

const withDefinitions = (definition: string) =>
  withTools(
    `{ type: "object", properties: { a: { $ref: "#/$defs/d0" } }, $defs: Object.fromEntries(Array.from({ length: 60 }, (_, i) => ["d" + i, ${definition}])) }`,
  );

const settingsRequest = (what: string, toSettings: () => object): ExpensiveRequest => ({
  kind: "settings",
  what,
  statuses: [200, 400, 413],
  agent: "settled",
  method: "PUT",
  path: "settings",
  body: () => ({ settings: toSettings() }),
});

const read = (what: string, path: string): ExpensiveRequest => ({
  kind: "code",
  isPage: true,
  what,
  statuses: [200],
  agent: "coded",
  method: "GET",
  path,
});

export const packageRequests: readonly ExpensiveRequest[] = [
  ...["a result of 10 MB", "a result with many keys", "a deep result", "a full state", "values of small parts"].map(
    talk,
  ),
  ...["calls with inputs of 10 MB", "models with long conversations", "long lines"].map(talk),
  read("2,000 long lines", "logs?limit=500"),
  read("the first of 2,000 long lines", "logs?limit=500&after=0"),
  read("errors among long lines", "logs?limit=500&level=error"),
  deploy("a source map of 6 MB", () => ({
    sourceMap: JSON.stringify({ version: 3, sources: ["a.ts"], names: [], mappings: "AAAA,".repeat(1_150_000) }),
    code: `${describe("")}\nthrow new Error("at load");`,
  })),
  deploy("a source map of many lines", () => ({
    sourceMap: JSON.stringify({ version: 3, sources: ["a.ts"], names: [], mappings: ";".repeat(5_900_000) }),
  })),
  deploy("code of 2 MB", () => ({ code: `${describe("")}//${"x".repeat(2_000_000)}` })),
  deploy("a program of 2 MB", () => ({ code: `${describe("")}\nconst all = [${"{},".repeat(600_000)}];` })),
  deploy("a large manifest", () => ({ manifest: { type: "agent", runtime: "isolate", settings } })),
  deploy("a manifest with 20,000 settings", () => ({
    manifest: {
      type: "agent",
      runtime: "isolate",
      settings: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`s${index}`, { type: "toggle" }])),
    },
  })),
  deploy("tools with large schemas", () => ({
    code: withTools(
      '{ type: "object", properties: Object.fromEntries(Array.from({ length: 900 }, (_, i) => ["p" + i, { type: "string" }])) }',
    ),
  })),
  deploy("doubling schemas", () => ({
    code: withDefinitions(
      'i === 59 ? { type: "string" } : { anyOf: [{ $ref: "#/$defs/d" + (i + 1) }, { $ref: "#/$defs/d" + (i + 1) }] }',
    ),
  })),
  deploy("recursive schemas", () => ({ code: withDefinitions('{ anyOf: [{ $ref: "#/$defs/d0" }, { $ref: "#" }] }') })),
  deploy("a deep schema", () => ({
    code: withTools(
      'Array.from({ length: 600 }).reduce((inner) => ({ type: "object", properties: { a: inner } }), { type: "string" })',
    ),
  })),
  deploy("a description of 9 MB", () => ({
    code: describe("normal.initialState = { a: Array.from({ length: 4_400_000 }, () => 1) };"),
  })),
  settingsRequest("long texts", () =>
    Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`t${index}`, "x".repeat(10_000)])),
  ),
  settingsRequest("unknown settings", () =>
    Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`u${index}`, index])),
  ),
];
