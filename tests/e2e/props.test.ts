import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openWebhook, type Webhook } from "../kit/webhook.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Core, class and props layers: what a request may add, and what the model receives.

let testbed: Testbed;
let models: ModelServer;
let hook: Webhook;
let foreign: Webhook;

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const createExchange = (when: string, tool: string, input: object = {}) => ({
  when,
  steps: [call(tool, input), { text: "Heard: {{ results.0 }}" }],
});

beforeAll(async () => {
  models = await openModelServer({ models: ["base", "other"] });
  models.answer(() => ({ text: "Fine." }));
  hook = await openWebhook(({ path, body }) => {
    if (path === "/later") return { status: 202 };
    if (path === "/broken") return { status: 500, text: "It broke." };
    if (path === "/elsewhere") return { status: 302, headers: { location: `${foreign.origin}/` } };
    if (path === "/long") return { text: "x".repeat(2 * 1024 * 1024) };
    return { text: `${body.tool} got ${JSON.stringify(body.input)}` };
  });
  foreign = await openWebhook(() => ({ text: "You should not be here." }));
  testbed = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    env: { LLM_API_BASE: `${models.url}/v1`, LLM_API_KEY: "x" },
    config: { maxFailuresPerMinute: 1000, toolOrigins: [hook.origin], turn: { heartbeatSeconds: 1 } },
    scripts: {
      default: [
        createExchange("read", "read_props"),
        createExchange("wrong weather", "weather", { city: 5 }),
        createExchange("weather", "weather", { city: "Athens" }),
        createExchange("recursive", "recursive", {}),
        createExchange("shout", "shout", { word: "hello" }),
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
});

afterAll(async () => {
  await testbed?.stop();
  for (const server of [models, hook, foreign]) await server?.stop();
});

interface Wire {
  model: string;
  temperature?: number;
  messages: { role: string; content: string }[];
  tools: { function: { name: string } }[];
}

async function recordRequestBody(turn: () => Promise<unknown>): Promise<Wire> {
  const before = models.countCalls();
  await turn();
  const { body } = await waitUntil("a call to the model", () => models.listRequests()[before]);
  return body as unknown as Wire;
}

const getSystem = ({ messages }: Wire) => messages[0]?.content ?? "";
const listToolNames = ({ tools }: Wire) => tools.map((tool) => tool.function.name);

async function runTurn(agent: TestAgent, message: string, props?: object) {
  const { runId } = await agent.invoke({ message, ...(props ? { props } : {}) });
  return agent.waitForEnd(runId);
}

test("the prompt has the core, the role, the class, the agent's props and the request's props in this order, under their headings", async () => {
  const blueprint = await testbed.newBlueprint({ prompt: "A role.", model: "openai:base", tags: ["words"] });
  const { status } = await testbed.api("/agents", "POST", {
    name: "layered",
    blueprint,
    system: "Of the agent.",
    props: { additionalInstructions: "Of its maker." },
  });
  expect(status).toBe(201);
  const agent = testbed.agentAt("/agents/layered", "layered");
  const createPattern = (text: string) =>
    new RegExp(
      `^You are an agent in Thinkery[^#]*\\n\\n## Your role\\nA role\\.\\n\\n## Additional Context\\nThe class was here\\.\\n\\n## Session Context\\n${text}$`,
    );
  const props = { additionalInstructions: "Of the request." };
  const expected = createPattern("Of the agent\\.\\n\\nOf its maker\\.\\n\\nOf the request\\.");
  expect(getSystem(await recordRequestBody(() => runTurn(agent, "hello", props)))).toMatch(expected);
  expect(
    getSystem(
      await recordRequestBody(() => testbed.api("/serve", "POST", { agent: "layered", message: "hello", props })),
    ),
  ).toMatch(expected);
  expect(
    getSystem(
      await recordRequestBody(() => testbed.api("/run", "POST", { agent: "layered", message: "hello", props })),
    ),
  ).toMatch(expected);
  // The request's props apply to that turn only.
  expect(getSystem(await recordRequestBody(() => runTurn(agent, "hello")))).toMatch(
    createPattern("Of the agent\\.\\n\\nOf its maker\\."),
  );
});

test("a request's model and settings take precedence over the agent's, the blueprint's and the default", async () => {
  const agent = await testbed.newAgent({
    model: "scripted:default",
    props: { models: { primary: "openai:base" }, settings: { temperature: 0.1 } },
  });
  expect(await recordRequestBody(() => runTurn(agent, "hello"))).toMatchObject({ model: "base", temperature: 0.1 });
  const props = { models: { primary: "openai:other" }, settings: { temperature: 0.9 } };
  expect(await recordRequestBody(() => runTurn(agent, "hello", props))).toMatchObject({
    model: "other",
    temperature: 0.9,
  });
});

test("props add a registered tool by name, for one turn or for the agent, and the tool can read the data of the props", async () => {
  const plain = await testbed.newAgent({ blueprint: await testbed.newBlueprint({ tags: ["words"] }) });
  const props = { tools: ["read_props", "echo"], data: { tenant: "acme", deep: [{ a: null }] } };
  expect(await runTurn(plain, "read", props)).toMatchObject({
    data: { result: 'Heard: {"tenant":"acme","deep":[{"a":null}]}' },
  });
  expect(await runTurn(plain, "read")).toMatchObject({
    data: { result: expect.stringContaining("There is no tool “read_props”") },
  });
  const equipped = await testbed.newAgent({ props: { tools: ["read_props"], data: { tenant: "acme", of: "agent" } } });
  expect(await runTurn(equipped, "read", { data: { of: "request" } })).toMatchObject({
    data: { result: 'Heard: {"tenant":"acme","of":"request"}' },
  });
  const wire = await recordRequestBody(() => runTurn(equipped, "hello", { models: { primary: "openai:base" } }));
  expect(listToolNames(wire).filter((name) => name === "read_props")).toHaveLength(1);
});

const parameters = { type: "object", properties: { city: { type: "string", pattern: "^[A-Z]" } }, required: ["city"] };
const createWeatherTool = (path = "/", origin = hook.origin) => ({
  name: "weather",
  description: "Says the weather.",
  parameters,
  webhook: { url: origin + path },
});

test("a webhook tool posts the call to its URL, and the response is the result", async () => {
  const agent = await testbed.newAgent({ props: { tools: [createWeatherTool()] } });
  expect(await runTurn(agent, "weather")).toMatchObject({ data: { result: 'Heard: weather got {"city":"Athens"}' } });
  const [sent] = hook.calls.slice(-1);
  const { runId } = await agent.run();
  expect(sent?.body).toMatchObject({
    tool: "weather",
    input: { city: "Athens" },
    runId,
    agent: `global~${agent.name}`,
    callId: expect.any(String),
  });
  expect(sent?.headers).toMatchObject({ "idempotency-key": sent?.body.callId, "content-type": "application/json" });
  expect(sent?.headers.authorization).toBeUndefined();
  const wire = await recordRequestBody(() => runTurn(agent, "hello", { models: { primary: "openai:base" } }));
  expect(wire.tools.map((tool) => tool.function)).toContainEqual({
    name: "weather",
    description: "Says the weather.",
    parameters,
  });
  const before = hook.calls.length;
  expect(await runTurn(agent, "wrong weather")).toMatchObject({
    data: { result: expect.stringContaining("Invalid input for weather. city:") },
  });
  expect(hook.calls).toHaveLength(before);
});

test("a webhook that responds with 202 reports its result later", async () => {
  const agent = await testbed.newAgent({ props: { tools: [createWeatherTool("/later")] } });
  const { runId } = await agent.invoke({ message: "weather" });
  await agent.waitForEvent("a pause", ({ type }) => type === "run.paused");
  const { callId } = hook.calls.at(-1)?.body ?? {};
  expect(await agent.report({ callId, output: "Sunny." })).toMatchObject({ status: 200 });
  expect(await agent.waitForEnd(runId)).toMatchObject({ data: { result: "Heard: Sunny." } });
});

test.each([
  ["fails", "/broken", /weather failed: it responded with 500\. It broke\./],
  ["redirects", "/elsewhere", /weather failed: it responded with 302/],
  ["responds with too much", "/long", /larger than 1048576 bytes/],
])("a webhook that %s is reported to the model", async (_, path, expected) => {
  const agent = await testbed.newAgent({ props: { tools: [createWeatherTool(path)] } });
  const { data } = await runTurn(agent, "weather");
  expect((data as { result: string }).result).toMatch(expected);
});

test("webhooks cannot reach this machine, except for configured origins", async () => {
  const agent = await testbed.newAgent({ props: { tools: [createWeatherTool("/", foreign.origin)] } });
  expect(await runTurn(agent, "weather")).toMatchObject({
    data: { result: expect.stringContaining("could not be reached") },
  });
  expect(foreign.calls).toEqual([]);
});

test("a code tool runs in a sandbox for each call, and its return value is the result", async () => {
  const shout = {
    name: "shout",
    description: "Shouts.",
    parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
    code: 'import { loud } from "./loud.js";\nconst { word }: { word: string } = input;\nreturn { said: loud(word), seen: typeof process };',
    modules: { "loud.js": "export const loud = (word) => word.toUpperCase();" },
  };
  const agent = await testbed.newAgent();
  expect(await runTurn(agent, "shout", { tools: [shout] })).toMatchObject({
    data: { result: 'Heard: {"said":"HELLO","seen":"undefined"}' },
  });
  const failing = { ...shout, code: "const word = input.word;\nword.shout();" };
  expect(await runTurn(agent, "shout", { tools: [failing] })).toMatchObject({
    data: { result: expect.stringMatching(/^Heard: .*TypeError: word\.shout is not a function[\s\S]*code:2:/) },
  });
  const invalid = { ...shout, code: "return (" };
  expect(await runTurn(agent, "shout", { tools: [invalid] })).toMatchObject({
    data: { result: expect.stringContaining("SyntaxError") },
  });
  expect(await runTurn(agent, "shout")).toMatchObject({
    data: { result: expect.stringContaining("There is no tool “shout”") },
  });
});

test("an infinitely recursive schema fails its call, not the turn", async () => {
  const recursive = {
    name: "recursive",
    description: "Turns in circles.",
    parameters: { type: "object", $ref: "#" },
    webhook: { url: hook.origin },
  };
  const agent = await testbed.newAgent();
  const body = { message: "recursive", props: { tools: [recursive] } };
  const { status, body: response } = await testbed.api(`${agent.at}/invoke`, "POST", body);
  if (status === 202) expect(await agent.waitForEnd(response.runId)).toMatchObject({ type: "agent.completed" });
  else expect(response).toMatchObject({ error: { code: "bad_request" } });
});

const invalidProps: [string, object, (string | number)[], RegExp?][] = [
  ["remove something", { remove: ["echo"] }, ["props", "remove"], /unknown field/],
  ["have tools as an object with null values", { tools: { bash: null } }, ["props", "tools"]],
  ["name a tool with a minus", { tools: ["-bash"] }, ["props", "tools", 0], /a letter or _ first/],
  ["have null in place of a tool", { tools: ["echo", null] }, ["props", "tools", 1], /props can only add tools/],
  [
    "name an unregistered tool",
    { tools: ["echo", "nobody"] },
    ["props", "tools", 1],
    /There is no registered tool “nobody”\. Available: .*echo/,
  ],
  [
    "replace a core tool",
    { tools: [{ ...createWeatherTool("/", "https://example.com"), name: "set_title" }] },
    ["props", "tools", 0],
    /Two tools are named “set_title”: one is from the core, the other from the props/,
  ],
  [
    "replace a tool by its alias",
    { tools: [{ ...createWeatherTool("/", "https://example.com"), name: "say_again" }] },
    ["props", "tools", 0],
    /one is from the system/,
  ],
  [
    "have two tools of the same name",
    { tools: [createWeatherTool("/", "https://example.com"), createWeatherTool("/", "https://example.com")] },
    ["props", "tools", 1],
    /one is from the props, the other from the props/,
  ],
  ["post to a file", { tools: [createWeatherTool("/etc/passwd", "file://")] }, ["props", "tools", 0, "webhook", "url"]],
  [
    "have a tool with both code and a webhook",
    { tools: [{ ...createWeatherTool("/", "https://example.com"), code: "return 1" }] },
    ["props", "tools", 0],
    /props can only add tools/,
  ],
  [
    "have a tool whose input is not an object",
    { tools: [{ ...createWeatherTool("/", "https://example.com"), parameters: { type: "string" } }] },
    ["props", "tools", 0, "parameters"],
  ],
  [
    "choose a model of an unknown provider",
    { models: { primary: "nobody:x" } },
    ["props", "models", "primary"],
    /Unknown provider “nobody”/,
  ],
  ["set too high a temperature", { settings: { temperature: 9 } }, ["props", "settings", "temperature"]],
  ["be too large", { data: { a: "x".repeat(70_000) } }, ["props"], /larger than/],
];

test.each(invalidProps)(
  "props that would %s are rejected with their path, in a request and for a new agent",
  async (_, props, path, expected = /./) => {
    const agent = await testbed.newAgent();
    const error = {
      status: 400,
      body: {
        error: { code: "bad_request", details: { issues: [{ path, message: expect.stringMatching(expected) }] } },
      },
    };
    expect(await testbed.api(`${agent.at}/invoke`, "POST", { message: "hello", props })).toMatchObject(error);
    expect((await agent.log()).map(({ type }) => type)).toEqual(["thread.created"]);
    const name = `rejected-${agent.name}`;
    expect(await testbed.api("/agents", "POST", { name, props })).toMatchObject(error);
    // The name is still free.
    expect((await testbed.api("/agents", "POST", { name, props: {} })).status).toBe(201);
  },
);

test("deeply nested props are accepted up to 64 levels", async () => {
  const agent = await testbed.newAgent();
  const { url, token } = testbed.host();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const send = (levels: number) => {
    const brackets = `${"[".repeat(levels)}${"]".repeat(levels)}`;
    return fetch(`${url}${agent.at}/invoke`, {
      method: "POST",
      headers,
      body: `{"message":"hello","props":{"data":{"a":${brackets}}}}`,
    });
  };
  expect((await send(60)).status).toBe(202);
  const rejected = await send(20_000);
  expect([rejected.status, await rejected.json()]).toMatchObject([
    400,
    { error: { details: { issues: [{ path: ["props", "data", "a"], message: "more than 64 levels deep" }] } } },
  ]);
});

test("paths in errors refer to the request, regardless of the agent's own tools", async () => {
  const agent = await testbed.newAgent({ props: { tools: ["read_props", createWeatherTool()] } });
  expect(
    await testbed.api(`${agent.at}/invoke`, "POST", { message: "hello", props: { tools: ["nobody"] } }),
  ).toMatchObject({
    body: { error: { details: { issues: [{ path: ["props", "tools", 0] }] } } },
  });
  expect(
    await testbed.api(`${agent.at}/invoke`, "POST", { message: "hello", props: { tools: [createWeatherTool()] } }),
  ).toMatchObject({
    status: 400,
    body: {
      error: {
        message: expect.stringContaining(
          "Two tools are named “weather”: one is from the props, the other from the props",
        ),
      },
    },
  });
});

test("creating an agent with props is atomic, whenever main is killed, and the agency stays usable", async () => {
  const { below, seed } = createRandom("kills while agents are created");
  for (let round = 0; round < getRepeatCount("kills", { sample: 4, full: 12 }); round++) {
    const name = `created-${round}`;
    const creating = testbed
      .api("/agents", "POST", { name, props: { tools: ["read_props"], models: { primary: "openai:base" } } })
      .catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, below(14)));
    await testbed.restartMain();
    await creating;
    const { agents } = (await waitUntil(`the agency to respond, SEED=${seed}`, () => testbed.api("/agents"))).body;
    if (!agents.some((agent: { name: string }) => agent.name === name))
      expect((await testbed.api("/agents", "POST", { name })).status).toBe(201);
    const agent = testbed.agentAt(`/agents/${name}`, name);
    expect(await agent.say("hello")).toMatchObject({ type: "agent.completed" });
  }
});

test("turns of a class that replaces a core tool fail and name both sources", async () => {
  const replacing = await openTestbed({ worker: new URL("../kit/worker/replacing.worker.ts", import.meta.url) });
  onTestFinished(() => replacing.stop());
  const agent = await replacing.newAgent();
  expect(await agent.say("hello")).toMatchObject({
    type: "agent.error",
    data: { error: "Two tools are named “set_title”: one is from the core, the other from the class. Rename one." },
  });
});
