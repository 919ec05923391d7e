import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openWebhook, type Webhook } from "../kit/webhook.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// The three layers, seen from both ends: what a request may add, and what the model is told.

let workshop: Testbed;
let models: ModelServer;
let hook: Webhook;
let foreign: Webhook;

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const createExchange = (when: string, tool: string, input: object = {}) => ({
  when,
  steps: [call(tool, input), { text: "Heard: {{ results.0 }}" }],
});

beforeAll(async () => {
  models = await openModelServer({ models: ["house", "other"] });
  models.answer(() => ({ text: "Fine." }));
  hook = await openWebhook(({ path, body }) => {
    if (path === "/later") return { status: 202 };
    if (path === "/broken") return { status: 500, text: "It broke." };
    if (path === "/elsewhere") return { status: 302, headers: { location: `${foreign.origin}/` } };
    if (path === "/long") return { text: "x".repeat(2 * 1024 * 1024) };
    return { text: `${body.tool} got ${JSON.stringify(body.input)}` };
  });
  foreign = await openWebhook(() => ({ text: "You should not be here." }));
  workshop = await openTestbed({
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
  await workshop?.stop();
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
  return agent.over(runId);
}

test("the prompt is the core, the role, the class, then the agent's props and the request's, under their headings", async () => {
  const blueprint = await workshop.newBlueprint({ prompt: "A role.", model: "openai:house", tags: ["words"] });
  const { status } = await workshop.api("/agents", "POST", {
    name: "layered",
    blueprint,
    system: "Of the agent.",
    props: { additionalInstructions: "Of its maker." },
  });
  expect(status).toBe(201);
  const agent = workshop.agentAt("/agents/layered", "layered");
  const session = (text: string) =>
    new RegExp(
      `^You are an agent in Thinkery[^#]*\\n\\n## Your role\\nA role\\.\\n\\n## Additional Context\\nThe class was here\\.\\n\\n## Session Context\\n${text}$`,
    );
  const props = { additionalInstructions: "Of the request." };
  const whole = session("Of the agent\\.\\n\\nOf its maker\\.\\n\\nOf the request\\.");
  expect(getSystem(await recordRequestBody(() => runTurn(agent, "hello", props)))).toMatch(whole);
  expect(
    getSystem(
      await recordRequestBody(() => workshop.api("/serve", "POST", { agent: "layered", message: "hello", props })),
    ),
  ).toMatch(whole);
  expect(
    getSystem(
      await recordRequestBody(() => workshop.api("/run", "POST", { agent: "layered", message: "hello", props })),
    ),
  ).toMatch(whole);
  // For that turn only.
  expect(getSystem(await recordRequestBody(() => runTurn(agent, "hello")))).toMatch(
    session("Of the agent\\.\\n\\nOf its maker\\."),
  );
});

test("a request chooses its model and settings before the agent's own, the blueprint's and the default", async () => {
  const agent = await workshop.newAgent({
    model: "scripted:default",
    props: { models: { primary: "openai:house" }, settings: { temperature: 0.1 } },
  });
  expect(await recordRequestBody(() => runTurn(agent, "hello"))).toMatchObject({ model: "house", temperature: 0.1 });
  const props = { models: { primary: "openai:other" }, settings: { temperature: 0.9 } };
  expect(await recordRequestBody(() => runTurn(agent, "hello", props))).toMatchObject({
    model: "other",
    temperature: 0.9,
  });
});

test("a registered tool comes by its name, for one turn or for good, and reads the data that came along", async () => {
  const plain = await workshop.newAgent({ blueprint: await workshop.newBlueprint({ tags: ["words"] }) });
  const props = { tools: ["read_props", "echo"], data: { tenant: "acme", deep: [{ a: null }] } };
  expect(await runTurn(plain, "read", props)).toMatchObject({
    data: { result: 'Heard: {"tenant":"acme","deep":[{"a":null}]}' },
  });
  expect(await runTurn(plain, "read")).toMatchObject({
    data: { result: expect.stringContaining("There is no tool “read_props”") },
  });
  const given = await workshop.newAgent({ props: { tools: ["read_props"], data: { tenant: "acme", of: "agent" } } });
  expect(await runTurn(given, "read", { data: { of: "request" } })).toMatchObject({
    data: { result: 'Heard: {"tenant":"acme","of":"request"}' },
  });
  const wire = await recordRequestBody(() => runTurn(given, "hello", { models: { primary: "openai:house" } }));
  expect(listToolNames(wire).filter((name) => name === "read_props")).toHaveLength(1);
});

const parameters = { type: "object", properties: { city: { type: "string", pattern: "^[A-Z]" } }, required: ["city"] };
const createWeatherTool = (path = "/", origin = hook.origin) => ({
  name: "weather",
  description: "Says the weather.",
  parameters,
  webhook: { url: origin + path },
});

test("a tool may be a schema and an address: the call is posted there, and the answer is the result", async () => {
  const agent = await workshop.newAgent({ props: { tools: [createWeatherTool()] } });
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
  const wire = await recordRequestBody(() => runTurn(agent, "hello", { models: { primary: "openai:house" } }));
  expect(wire.tools.map((tool) => tool.function)).toContainEqual({
    name: "weather",
    description: "Says the weather.",
    parameters,
  });
  const before = hook.calls.length;
  expect(await runTurn(agent, "wrong weather")).toMatchObject({
    data: { result: expect.stringContaining("The input of weather is not valid. city:") },
  });
  expect(hook.calls).toHaveLength(before);
});

test("an address that answers 202 reports later", async () => {
  const agent = await workshop.newAgent({ props: { tools: [createWeatherTool("/later")] } });
  const { runId } = await agent.invoke({ message: "weather" });
  await agent.seen("a pause", ({ type }) => type === "run.paused");
  const { callId } = hook.calls.at(-1)?.body ?? {};
  expect(await agent.report({ callId, output: "Sunny." })).toMatchObject({ status: 200 });
  expect(await agent.over(runId)).toMatchObject({ data: { result: "Heard: Sunny." } });
});

test.each([
  ["fails", "/broken", /weather failed: it answered 500\. It broke\./],
  ["leads elsewhere", "/elsewhere", /weather failed: it answered 302/],
  ["says too much", "/long", /more than 1048576 bytes/],
])("an address that %s is the model's to read", async (_, path, words) => {
  const agent = await workshop.newAgent({ props: { tools: [createWeatherTool(path)] } });
  const { data } = await runTurn(agent, "weather");
  expect((data as { result: string }).result).toMatch(words);
});

test("what runs on this machine is not reached, but for the origins that its owner named", async () => {
  const agent = await workshop.newAgent({ props: { tools: [createWeatherTool("/", foreign.origin)] } });
  expect(await runTurn(agent, "weather")).toMatchObject({
    data: { result: expect.stringContaining("cannot be reached from here") },
  });
  expect(foreign.calls).toEqual([]);
});

test("a tool may be code: each call runs it in a sandbox, and what it returns is the result", async () => {
  const shout = {
    name: "shout",
    description: "Shouts.",
    parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
    code: 'import { loud } from "./loud.js";\nconst { word }: { word: string } = input;\nreturn { said: loud(word), seen: typeof process };',
    modules: { "loud.js": "export const loud = (word) => word.toUpperCase();" },
  };
  const agent = await workshop.newAgent();
  expect(await runTurn(agent, "shout", { tools: [shout] })).toMatchObject({
    data: { result: 'Heard: {"said":"HELLO","seen":"undefined"}' },
  });
  const failing = { ...shout, code: "const word = input.word;\nword.shout();" };
  expect(await runTurn(agent, "shout", { tools: [failing] })).toMatchObject({
    data: { result: expect.stringMatching(/^Heard: .*TypeError: word\.shout is not a function[\s\S]*code:2:/) },
  });
  const unread = { ...shout, code: "return (" };
  expect(await runTurn(agent, "shout", { tools: [unread] })).toMatchObject({
    data: { result: expect.stringContaining("SyntaxError") },
  });
  expect(await runTurn(agent, "shout")).toMatchObject({
    data: { result: expect.stringContaining("There is no tool “shout”") },
  });
});

test("a schema that refers to itself for ever fails its call, not the turn", async () => {
  const recursive = {
    name: "recursive",
    description: "Turns in circles.",
    parameters: { type: "object", $ref: "#" },
    webhook: { url: hook.origin },
  };
  const agent = await workshop.newAgent();
  const body = { message: "recursive", props: { tools: [recursive] } };
  const { status, body: answer } = await workshop.api(`${agent.at}/invoke`, "POST", body);
  if (status === 202) expect(await agent.over(answer.runId)).toMatchObject({ type: "agent.completed" });
  else expect(answer).toMatchObject({ error: { code: "bad_request" } });
});

const wrong: [string, object, (string | number)[], RegExp?][] = [
  ["take something away", { remove: ["echo"] }, ["props", "remove"], /unknown field/],
  ["name tools as keys, to be null", { tools: { bash: null } }, ["props", "tools"]],
  ["name a tool with a minus", { tools: ["-bash"] }, ["props", "tools", 0], /a letter or _ first/],
  ["have no tool in place of one", { tools: ["echo", null] }, ["props", "tools", 1], /props can only add tools/],
  [
    "name a tool that nobody registered",
    { tools: ["echo", "nobody"] },
    ["props", "tools", 1],
    /There is no registered tool “nobody”\. There are: .*echo/,
  ],
  [
    "replace a core tool",
    { tools: [{ ...createWeatherTool("/", "https://example.com"), name: "set_title" }] },
    ["props", "tools", 0],
    /Two tools are named “set_title”: one is from the core, the other from the props/,
  ],
  [
    "replace a tool by its other name",
    { tools: [{ ...createWeatherTool("/", "https://example.com"), name: "say_again" }] },
    ["props", "tools", 0],
    /one is from the system/,
  ],
  [
    "bring two of one name",
    { tools: [createWeatherTool("/", "https://example.com"), createWeatherTool("/", "https://example.com")] },
    ["props", "tools", 1],
    /one is from the props, the other from the props/,
  ],
  ["post to a file", { tools: [createWeatherTool("/etc/passwd", "file://")] }, ["props", "tools", 0, "webhook", "url"]],
  [
    "be code and an address at once",
    { tools: [{ ...createWeatherTool("/", "https://example.com"), code: "return 1" }] },
    ["props", "tools", 0],
    /props can only add tools/,
  ],
  [
    "describe an input that is no object",
    { tools: [{ ...createWeatherTool("/", "https://example.com"), parameters: { type: "string" } }] },
    ["props", "tools", 0, "parameters"],
  ],
  [
    "choose a model there cannot be",
    { models: { primary: "nobody:x" } },
    ["props", "models", "primary"],
    /no provider “nobody”/,
  ],
  ["be hotter than hot", { settings: { temperature: 9 } }, ["props", "settings", "temperature"]],
  ["be very large", { data: { a: "x".repeat(70_000) } }, ["props"], /larger than/],
];

test.each(wrong)(
  "props that would %s are refused by their path, with a request and with a new agent",
  async (_, props, path, words = /./) => {
    const agent = await workshop.newAgent();
    const refusal = {
      status: 400,
      body: {
        error: { code: "bad_request", details: { problems: [{ path, message: expect.stringMatching(words) }] } },
      },
    };
    expect(await workshop.api(`${agent.at}/invoke`, "POST", { message: "hello", props })).toMatchObject(refusal);
    expect((await agent.log()).map(({ type }) => type)).toEqual(["thread.created"]);
    const name = `refused-${agent.name}`;
    expect(await workshop.api("/agents", "POST", { name, props })).toMatchObject(refusal);
    // Its name is free for whoever does better.
    expect((await workshop.api("/agents", "POST", { name, props: {} })).status).toBe(201);
  },
);

test("props may be as deep as people write, and a bomb of brackets is refused like any other", async () => {
  const agent = await workshop.newAgent();
  const { url, token } = workshop.house();
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
  const refused = await send(20_000);
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { details: { problems: [{ path: ["props", "data", "a"], message: "more than 64 levels deep" }] } } },
  ]);
});

test("the path of a problem is the request's own, whatever tools the agent has", async () => {
  const agent = await workshop.newAgent({ props: { tools: ["read_props", createWeatherTool()] } });
  expect(
    await workshop.api(`${agent.at}/invoke`, "POST", { message: "hello", props: { tools: ["nobody"] } }),
  ).toMatchObject({
    body: { error: { details: { problems: [{ path: ["props", "tools", 0] }] } } },
  });
  expect(
    await workshop.api(`${agent.at}/invoke`, "POST", { message: "hello", props: { tools: [createWeatherTool()] } }),
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

test("an agent with props is made or not made, whenever main is killed, and its agency answers", async () => {
  const { below, seed } = createRandom("kills while agents are made");
  for (let round = 0; round < getRepeatCount("kills", { sample: 4, full: 12 }); round++) {
    const name = `made-${round}`;
    const making = workshop
      .api("/agents", "POST", { name, props: { tools: ["read_props"], models: { primary: "openai:house" } } })
      .catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, below(14)));
    await workshop.restartMain();
    await making;
    const { agents } = (await waitUntil(`the agency to answer, SEED=${seed}`, () => workshop.api("/agents"))).body;
    if (!agents.some((agent: { name: string }) => agent.name === name))
      expect((await workshop.api("/agents", "POST", { name })).status).toBe(201);
    const agent = workshop.agentAt(`/agents/${name}`, name);
    expect(await agent.say("hello")).toMatchObject({ type: "agent.completed" });
  }
});

test("a class cannot put another tool in the place of a core one: its turns say whose it is", async () => {
  const replacing = await openTestbed({ worker: new URL("../kit/worker/replacing.worker.ts", import.meta.url) });
  onTestFinished(() => replacing.stop());
  const agent = await replacing.newAgent();
  expect(await agent.say("hello")).toMatchObject({
    type: "agent.error",
    data: { error: "Two tools are named “set_title”: one is from the core, the other from the class. Rename one." },
  });
});
