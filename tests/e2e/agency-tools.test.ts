import type { AgencyToolDefinition, AgentEvent } from "@thinkery/sdk";
import type { AgencyTools, Client } from "@thinkery/sdk/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { deployAgent } from "../kit/user-agent.ts";
import { openWebhook, type Webhook } from "../kit/webhook.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// Tools that an agency gives to its agents, and mocks that take the place of others.

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const createExchange = (when: string, tool: string, input: object = {}) => ({
  when: `/^${when}$/`,
  steps: [call(tool, input), { text: "{{ results.0 }}" }],
});

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

let testbed: Testbed;
let hook: Webhook;
let client: Client;
let tools: AgencyTools;
let weather: AgencyToolDefinition;

beforeAll(async () => {
  hook = await openWebhook(({ body }) => ({ text: `Sunny for ${body.agent}, ${JSON.stringify(body.input)}` }));
  weather = { name: "weather", description: "Tells the weather.", parameters, webhook: { url: hook.origin } };
  testbed = await openTestbed({
    config: { toolOrigins: [hook.origin], maxFailuresPerMinute: 1000 },
    scripts: {
      default: [
        createExchange("weather", "weather", { city: "Athens" }),
        createExchange("wrong weather", "weather", { city: 5 }),
        createExchange("double", "double", { number: 21 }),
        createExchange("read", "readFile", { path: "/secret.txt" }),
        createExchange("read nothing", "readFile"),
        createExchange("title", "set_title", { title: "Real" }),
        createExchange("plan", "createSubtask", { title: "Step" }),
        createExchange("add", "math__add", { a: 1, b: 2 }),
        createExchange("code", "executeCode", { code: "return (await tools.readFile({ path: 'x' })).mocked" }),
        createExchange("ask", "askUser", { prompt: "Sure?" }),
        createExchange("own", "own"),
        createExchange("delegate", "task", { description: "weather" }),
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
  client = testbed.host().client;
  tools = client.tools();
});

afterAll(async () => {
  await testbed?.stop();
  await hook?.stop();
});

beforeEach(async () => {
  for (const { name, kind, agent } of await tools.list())
    await tools.delete(name, { kind: kind === "mock" ? "mock" : "tool", ...(agent === undefined ? {} : { agent }) });
});

const createAgent = (props: object = {}) => testbed.newAgent({ model: "scripted:default", props });
const textOf = (end: AgentEvent) => (end.type === "agent.completed" ? end.data.result : JSON.stringify(end));
const say = async (agent: TestAgent, message: string) => textOf(await agent.say(message));
const find = async (agent: TestAgent, name: string) =>
  (await tools.listOf(agent.name)).find((tool) => tool.name === name);

test("all agents get a webhook from their next turn on, and lose it when it is deleted", async () => {
  const alice = await createAgent();
  expect(await say(alice, "weather")).toContain("There is no tool “weather”.");
  expect(await tools.put(weather)).toEqual({
    name: "weather",
    description: "Tells the weather.",
    kind: "webhook",
    addedBy: "owner",
    addedAt: expect.stringMatching(/^20/),
  });
  const bob = await createAgent();
  for (const agent of [alice, bob])
    expect(await say(agent, "weather")).toBe(`Sunny for global~${agent.name}, {"city":"Athens"}`);
  expect(await say(alice, "wrong weather")).toContain("city");
  expect(hook.calls).toHaveLength(2);
  await tools.delete("weather");
  for (const agent of [alice, bob]) expect(await say(agent, "weather")).toContain("There is no tool “weather”.");
});

test("sub-agents have the tools of their agents", async () => {
  const alice = await createAgent();
  await tools.put(weather, { agent: alice.name });
  expect(await say(alice, "delegate")).toContain(`Sunny for global~${alice.name}/subagent-`);
});

test("code runs in a sandbox with the call's input", async () => {
  const alice = await createAgent();
  const code: AgencyToolDefinition = {
    name: "double",
    description: "Doubles.",
    parameters: { type: "object", properties: { number: { type: "number" } } },
    code: "return { doubled: input.number * 2 };",
  };
  expect((await tools.put(code)).kind).toBe("code");
  expect(await say(alice, "double")).toBe('{"doubled":42}');
});

test("a tool of one agent is that agent's alone, and goes with it", async () => {
  const [alice, bob] = [await createAgent(), await createAgent()];
  expect(await tools.put(weather, { agent: alice.name.toUpperCase() })).toMatchObject({ agent: alice.name });
  expect(await say(alice, "weather")).toContain("Sunny");
  expect(await say(bob, "weather")).toContain("There is no tool");
  await tools.put({ ...weather, description: "Another." } as AgencyToolDefinition, { agent: bob.name });
  expect((await tools.list()).map(({ agent }) => agent)).toEqual([alice.name, bob.name].sort());
  await client.call("deleteAgent", { params: { agency: "global", agent: alice.name } });
  expect((await tools.list()).map(({ agent }) => agent)).toEqual([bob.name]);
  const next = await testbed.newAgent({ name: alice.name, model: "scripted:default" });
  expect(await say(next, "weather")).toContain("There is no tool");
});

test("putting a tool again replaces it, for a turn that starts later", async () => {
  const alice = await createAgent();
  await tools.put(weather);
  expect(await say(alice, "weather")).toContain("Sunny");
  await tools.put({ ...weather, webhook: { url: `${hook.origin}/other` } } as AgencyToolDefinition);
  await say(alice, "weather");
  expect(hook.calls.at(-1)?.path).toBe("/other");
  expect(await tools.list()).toHaveLength(1);
});

test.each([
  ["a default tool", "readFile", "read", "middleware filesystem"],
  ["a core tool", "set_title", "title", "core"],
  ["a tool of the task graph", "createSubtask", "plan", "middleware tasks"],
  ["a tool that waits for a person", "askUser", "ask", "tags"],
  ["a tool of the agent’s props", "own", "own", "props"],
  ["a tool of another agent", "math__add", "add", "agent math"],
  ["a tool of the agency", "weather", "weather", "agency"],
])("a mock takes the place of %s until it is deleted", async (_, name, message, source) => {
  if (source === "agent math")
    await deployAgent(client, "math", {
      onMessage() {},
      tools: {
        add: {
          description: "Adds.",
          parameters: { a: { type: "number" }, b: { type: "number" } },
          execute: ({ a, b }: { a: number; b: number }) => a + b,
        },
      },
    });
  if (source === "agency") await tools.put(weather);
  const own = { ...weather, name: "own", parameters: { type: "object" } };
  const alice = await createAgent({ tools: [own] });
  expect(await find(alice, name)).toMatchObject({ source });
  const before = await find(alice, name);
  const mock = { mocked: [1, { two: "three" }] };
  expect(await tools.put({ name, mock })).toMatchObject({ kind: "mock", description: "A mock." });
  expect(await find(alice, name)).toEqual({ ...before, source: "mock", replaces: source });
  expect(await say(alice, message)).toBe(JSON.stringify(mock));
  await tools.delete(name);
  expect(await find(alice, name)).toEqual(before);
  if (message !== "ask") expect(await say(alice, message)).not.toContain("mocked");
  if (source === "agent math") await client.call("deleteAgent", { params: { agency: "global", agent: "math" } });
});

test("code that a model writes calls the mock, too", async () => {
  const alice = await createAgent();
  await tools.put({ name: "readFile", mock: { mocked: "yes" } });
  expect(await say(alice, "code")).toContain("yes");
});

test("a mock takes the inputs of the tool it replaces, and rules on that tool apply to it", async () => {
  const alice = await createAgent();
  await tools.put({ name: "readFile", mock: "mocked" });
  expect(await say(alice, "read nothing")).toContain("path");
  expect(await say(alice, "read")).toBe("mocked");
  await client.call("putPolicy", {
    params: { agency: "global" },
    body: { rules: [{ tool: "readFile", match: "*.txt", action: "deny" }] },
  });
  expect(await say(alice, "read")).toMatch(/den(y|ies)/);
  await client.call("putPolicy", { params: { agency: "global" }, body: { rules: [] } });
});

test("a mock of one agent comes before that of all", async () => {
  const [alice, bob] = [await createAgent(), await createAgent()];
  await tools.put({ name: "weather", mock: "all" });
  await tools.put({ name: "weather", mock: "alice" }, { agent: alice.name });
  expect([await say(alice, "weather"), await say(bob, "weather")]).toEqual(["alice", "all"]);
  await tools.delete("weather");
  expect([await say(alice, "weather"), await say(bob, "weather")]).toEqual([
    "alice",
    expect.stringContaining("There is no tool"),
  ]);
});

test("deleting a name deletes the mock first, or what is asked for", async () => {
  await tools.put(weather);
  await tools.put({ name: "weather", mock: 1 });
  const kinds = async () => (await tools.list()).map(({ kind }) => kind);
  expect(await kinds()).toEqual(["webhook", "mock"]);
  await tools.delete("weather");
  expect(await kinds()).toEqual(["webhook"]);
  await expect(tools.delete("weather", { kind: "mock" })).rejects.toMatchObject({
    code: "not_found",
    message: "No mock named “weather” was given to all agents. All agents have one of the kind webhook.",
  });
  await tools.put({ name: "weather", mock: 1 });
  await tools.delete("weather", { kind: "tool" });
  expect(await kinds()).toEqual(["mock"]);
  await expect(tools.delete("wether")).rejects.toMatchObject({
    message: "No tool named “wether” was given to all agents. Did you mean “weather”?",
    details: { suggestion: "weather" },
  });
  const alice = await createAgent();
  await expect(tools.delete("weather", { agent: alice.name })).rejects.toThrow(
    `No tool named “weather” was given to ${alice.name}. All agents have one of the kind mock.`,
  );
});

test("a name that agents have already is refused, and the source is named", async () => {
  const own = { ...weather, name: "own" };
  const alice = await createAgent({ tools: [own] });
  const put = (name: string, agent?: string) =>
    tools.put({ ...weather, name } as AgencyToolDefinition, agent === undefined ? {} : { agent });
  const refusal = (has: string, name: string, source: string) => ({
    code: "conflict",
    message: `${has} a tool named “${name}” (source: ${source}). Choose another name, or put a mock in its place.`,
  });
  await expect(put("set_title")).rejects.toMatchObject(refusal("Agents already have", "set_title", "core"));
  await expect(put("bash")).rejects.toMatchObject(refusal("Agents already have", "bash", "tags"));
  await expect(put("readFile")).rejects.toMatchObject(
    refusal("Agents already have", "readFile", "middleware filesystem"),
  );
  await expect(put("echo")).rejects.toMatchObject(refusal("Agents already have", "echo", "class"));
  // An alias of it.
  await expect(put("repeat_after_me")).rejects.toMatchObject(
    refusal("Agents already have", "repeat_after_me", "class"),
  );
  await expect(put("own", alice.name)).rejects.toMatchObject(refusal(`${alice.name} already has`, "own", "props"));
  // A mock does not make the name free.
  await tools.put({ name: "bash", mock: 1 });
  await expect(put("bash")).rejects.toMatchObject(refusal("Agents already have", "bash", "tags"));
  await tools.put({ name: "nothing", mock: 1 });
  await put("nothing");

  await put("shared", alice.name);
  await expect(put("shared")).rejects.toMatchObject({
    code: "conflict",
    message: `Of the tools of this agency, ${alice.name} has one named “shared”. Delete that first.`,
  });
  await put("common");
  await expect(put("common", alice.name)).rejects.toThrow("all agents have one named “common”");
  expect((await tools.list()).map(({ name }) => name)).toEqual(["bash", "common", "nothing", "nothing", "shared"]);
});

test("a tool whose name an agent takes later is left out, and everything else works", async () => {
  await tools.put({ ...weather, name: "own" } as AgencyToolDefinition);
  await tools.put(weather);
  const own = { name: "own", description: "Mine.", parameters: { type: "object" }, code: 'return "mine"' };
  const alice = await createAgent({ tools: [own] });
  expect(await say(alice, "own")).toBe("mine");
  expect(await say(alice, "weather")).toContain("Sunny");
});

test("every tool is listed with its source, and what the model is offered", async () => {
  const alice = await createAgent();
  await tools.put(weather);
  const listed = await tools.listOf(alice.name);
  const state = await alice.state();
  expect(listed.filter(({ offered }) => offered).map(({ name }) => name)).toEqual(
    expect.arrayContaining(state.tools.map(({ name }: { name: string }) => name)),
  );
  const sources = new Map(listed.map(({ name, source, offered }) => [name, [source, offered]]));
  expect(Object.fromEntries(sources)).toMatchObject({
    set_title: ["core", true],
    bash: ["tags", true],
    createSubtask: ["middleware tasks", true],
    listTasks: ["middleware tasks", false],
    echo: ["class", true],
    weather: ["agency", true],
  });
  expect(listed.find(({ name }) => name === "echo")?.aliases).toEqual(["repeat_after_me"]);
  await client.call("createTask", { params: { agency: "global", agent: alice.name }, body: { title: "x" } });
  expect((await find(alice, "listTasks"))?.offered).toBe(true);
});

test("what is not valid is refused with the place", async () => {
  const params = { agency: "global", tool: "weather" };
  await expect(
    client.call("putAgencyTool", { params, body: { tool: { name: "other", mock: 1 } } }),
  ).rejects.toMatchObject({
    code: "bad_request",
    message: "The tool’s name is “other”, but the path names “weather”.",
    details: { issues: [{ path: ["tool", "name"] }] },
  });
  await expect(tools.put(weather, { agent: "nobody" })).rejects.toMatchObject({ code: "not_found" });
  for (const tool of [
    { name: "weather" },
    { ...weather, mock: 1 },
    { ...weather, webhook: { url: "ftp://a.example" } },
    { ...weather, parameters: { type: "string" } },
    { ...weather, parameters: { type: "object", properties: { a: { $ref: "#/nowhere" } } } },
    { ...weather, parameters: { type: "object", properties: { a: { type: "banana" } } } },
    { name: "weather", mock: JSON.parse("[".repeat(100) + "]".repeat(100)) },
  ])
    await expect(tools.put(tool as AgencyToolDefinition)).rejects.toMatchObject({ code: "bad_request" });
  expect(await tools.list()).toEqual([]);
});

test("an agency has at most 64 tools, and together at most a megabyte", async () => {
  await client.call("createAgency", { body: { id: "many" } });
  const many = client.tools("many");
  for (let index = 0; index < 64; index++) await many.put({ name: `mock_${index}`, mock: index });
  await expect(many.put({ name: "one_more", mock: 1 })).rejects.toMatchObject({
    code: "conflict",
    message: "An agency can have at most 64 tools. Delete some.",
  });
  await many.put({ name: "mock_0", mock: "x".repeat(1_000_000) });
  await expect(many.put({ name: "mock_1", mock: "x".repeat(100_000) })).rejects.toMatchObject({ code: "too_large" });
  await many.put({ name: "mock_0", mock: "ä".repeat(300_000) });
  await many.put({ name: "mock_1", mock: "x".repeat(100_000) });
  await expect(many.put({ name: "mock_2", mock: "ä".repeat(200_000) })).rejects.toMatchObject({ code: "too_large" });
});

test("tools survive a restart, and belong to one agency", async () => {
  await tools.put(weather);
  const alice = await createAgent();
  await testbed.restartMain();
  expect(await say(alice, "weather")).toContain("Sunny");
  await client.call("createAgency", { body: { id: "other" } });
  const agent = await client.agents("other").create({ name: "bob", model: "scripted:default" });
  expect(await client.tools("other").list()).toEqual([]);
  expect((await (await agent.send("weather")).outcome()).content).toContain("There is no tool");
});
