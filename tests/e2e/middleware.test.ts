import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Well-behaved middleware: what each hook sees and when, what it can change, and what persists.

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });

let testbed: Testbed;
let models: ModelServer;

beforeAll(async () => {
  models = await openModelServer({ models: ["base", "small"] });
  testbed = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    env: { LLM_API_BASE: `${models.url}/v1`, LLM_API_KEY: "x" },
    config: { maxFailuresPerMinute: 1000, turn: { heartbeatSeconds: 1, hookTimeoutSeconds: 5 } },
    scripts: {
      default: [
        { when: "work", steps: [{ text: "So. " }, call("echo", { text: "hi" }), call("throws"), { text: "Ended." }] },
        { when: "gifts", steps: [call("from_step_1"), call("from_step_1"), call("from_init"), { text: "Thanks." }] },
        { when: "silence", steps: [{ wait: 600_000 }] },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
      quick: [{ steps: [{ text: "A quick answer." }] }],
    },
  });
});

afterAll(async () => {
  await testbed?.stop();
  await models?.stop();
});

const getEventData = <T extends AgentEvent["type"]>(log: AgentEvent[], type: T) =>
  log.flatMap((event) => (event.type === type ? [event.data as Extract<AgentEvent, { type: T }>["data"]] : []));

/** What the two witnesses recorded, in log order. */
async function readWitnessed(agent: TestAgent): Promise<string[]> {
  return getEventData(await agent.log(), "middleware.state_changed").flatMap(({ middlewareName, key, value }) =>
    key === "last" ? [`${middlewareName}: ${String(value)}`] : [],
  );
}

const expectBoth = (...entries: string[]) => entries.flatMap((entry) => [`first: ${entry}`, `second: ${entry}`]);

test("hooks run at their points in the order in which the middleware was added, sync or async", async () => {
  const agent = await testbed.newAgent({ blueprint: "watched" });
  expect(await agent.say("work")).toMatchObject({ type: "agent.completed", data: { result: "Ended." } });
  expect(await readWitnessed(agent)).toEqual([
    ...expectBoth("onInit"),
    ...expectBoth("onTick 1", "beforeModel 1 of 1, run running", "onModelResult “So. ” [echo], 2 said"),
    ...expectBoth('onToolStart echo {"text":"hi"}', 'onToolResult echo "hi"'),
    ...expectBoth("onTick 2", "beforeModel 2 of 3, run running", "onModelResult “” [throws], 4 said"),
    ...expectBoth("onToolStart throws {}", "onToolError throws This tool throws."),
    ...expectBoth("onTick 3", "beforeModel 3 of 5, run running", "onModelResult “Ended.” [], 6 said"),
  ]);
});

test("the log has a before and an after event for each middleware and model call", async () => {
  const agent = await testbed.newAgent({ blueprint: "watched" });
  await agent.say("hello");
  const events = (await agent.log()).filter(({ type }) => type.startsWith("middleware.") || type.startsWith("model."));
  const order = events.flatMap(({ type, data }) =>
    type === "middleware.state_changed" || type === "model.delta"
      ? []
      : [`${type} ${"middlewareName" in data ? data.middlewareName : ""}`.trim()],
  );
  expect(order).toEqual([
    "model.started",
    "middleware.before_model first",
    "middleware.before_model second",
    "model.completed",
    "middleware.after_model first",
    "middleware.after_model second",
  ]);
  expect(getEventData(await agent.log(), "middleware.before_model")[0]).toMatchObject({
    step: 1,
    runId: expect.any(String),
  });
});

test("middleware and tools that share no tag with the blueprint are neither run nor offered", async () => {
  const plain = await testbed.newAgent({ blueprint: "think" });
  await plain.say("hello");
  expect((await plain.log()).filter(({ type }) => type.startsWith("middleware."))).toEqual([]);
  const listNames = async (tags: string[]) => {
    const agent = await testbed.newAgent({ blueprint: await testbed.newBlueprint({ tags }) });
    return (await agent.state()).tools.map(({ name }: { name: string }) => name);
  };
  expect(await listNames(["words"])).toEqual(["set_title", "echo", "of_the_class"]);
  expect(await listNames(["words", "planning", "coach"])).toEqual([
    "set_title",
    "echo",
    "of_the_class",
    "write_todos",
    "from_init",
  ]);
});

test("state() is merged into the agent's state and cannot override built-in fields", async () => {
  const agent = await testbed.newAgent({ blueprint: "watched" });
  expect(await agent.state()).toMatchObject({ first: 1, second: 1 });
  await agent.say("hello");
  expect(await agent.state()).toMatchObject({ first: 4, second: 4 });
  const puppet = await testbed.newAgent({
    blueprint: await testbed.newBlueprint({
      tags: ["puppet"],
      config: { puppet: { state: "override built-in fields" } },
    }),
  });
  const state = await puppet.state();
  expect(state).toMatchObject({ own: "fine", messages: [] });
  expect(state).not.toHaveProperty("title");
});

test("middleware state survives a kill of main and is removed when the history is cleared", async () => {
  const agent = await testbed.newAgent({ blueprint: "watched" });
  await agent.say("hello");
  await testbed.restartMain();
  // The agent woke again, which ran onInit once more.
  expect(await agent.state()).toMatchObject({ first: 5, second: 5 });
  expect((await testbed.api(`${agent.at}/messages`, "DELETE")).status).toBe(204);
  expect(await agent.state()).toMatchObject({ first: 0, second: 0 });
  await agent.say("hello again");
  expect(await agent.state()).toMatchObject({ first: 3, second: 3 });
});

test("an interrupted turn is resumed and middleware is notified", async () => {
  const agent = await testbed.newAgent({ blueprint: "watched" });
  const { runId } = await agent.invoke({ message: "silence" });
  await agent.waitForEvent("the model's call", ({ type }) => type === "model.started");
  await testbed.restartMain();
  await agent.waitForEvent(
    "onResume",
    ({ type, data }) => type === "middleware.state_changed" && "value" in data && data.value === "onResume recovered 0",
  );
  expect(await agent.cancel()).toMatchObject({ runId, status: "canceled" });
});

test("config is validated by the middleware's schema, and errors name the path", async () => {
  const agent = await testbed.newAgent({ blueprint: "coached" });
  expect(await agent.state()).toMatchObject({ coached: { system: "Be kind.", give: [] } });
  const invalid = await testbed.api("/agency/global/blueprints", "POST", {
    name: "wrong",
    tags: ["coach"],
    config: { coach: { reminder: 5 }, own: true },
  });
  expect(invalid).toMatchObject({
    status: 400,
    body: {
      error: {
        code: "bad_request",
        message: expect.stringMatching(/“wrong”.*“coach”/),
        details: { issues: [{ path: ["config", "coach", "reminder"] }] },
      },
    },
  });
  const misspelled = await testbed.api("/agency/global/blueprints", "POST", {
    name: "wrong",
    tags: ["coach"],
    config: { coach: { remindr: "x" } },
  });
  expect(misspelled).toMatchObject({
    status: 400,
    body: { error: { details: { issues: [{ path: ["config", "coach", "remindr"], message: "unknown field" }] } } },
  });
  // Without the tag, no middleware reads it.
  expect(
    (await testbed.api("/agency/global/blueprints", "POST", { name: "fine", config: { coach: { reminder: 5 } } }))
      .status,
  ).toBe(201);
});

interface Wire {
  messages: { role: string; content: string }[];
  tools?: { function: { name: string } }[];
  temperature?: number;
  max_tokens?: number;
  max_completion_tokens?: number;
}

/** Runs one turn of an agent with this config and returns the bodies of its model calls. */
async function recordCalls(config: object, tags = ["default", "coach"]): Promise<{ agent: TestAgent; bodies: Wire[] }> {
  const blueprint = await testbed.newBlueprint({ tags, prompt: "A role.", model: "openai:base", config });
  const agent = await testbed.newAgent({ blueprint });
  const before = models.countCalls();
  expect(await agent.say("hello")).toMatchObject({ type: "agent.completed" });
  return {
    agent,
    bodies: models
      .listRequests()
      .slice(before)
      .map(({ body }) => body as unknown as Wire),
  };
}

const listToolNames = ({ tools = [] }: Wire) => tools.map((tool) => tool.function.name);

test("the model request follows the plan: system parts last, reminders at the end, planned tools and settings", async () => {
  models.answer([{ toolCalls: [{ name: "echo", input: { text: "x" } }] }, { text: "Done." }]);
  const coach = {
    system: "Be kind.",
    reminder: "Be brief.",
    only: ["echo", "from_init"],
    without: ["from_init"],
    temperature: 0.5,
    maxOutputTokens: 77,
  };
  const { bodies } = await recordCalls({ coach });
  expect(bodies).toHaveLength(2);
  for (const body of bodies) {
    expect(body.messages[0]?.content).toMatch(
      /^You are an agent[^]*\n\n## Your role\nA role\.\n\n## Sub-agents\n- watched: Seen by both witnesses\.\n\n## Additional Context\nThe class was here\.\n\nBe kind\.$/,
    );
    expect(body.messages.at(-1)).toMatchObject({
      role: "user",
      content: expect.stringMatching(/<reminder>\nBe brief\.\n<\/reminder>$/),
    });
    expect(listToolNames(body)).toEqual(["set_title", "echo"]);
    expect([body.temperature, body.max_tokens ?? body.max_completion_tokens]).toEqual([0.5, 77]);
  }
  expect(bodies[1]?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"]);
  expect(bodies[1]?.messages[0]).toEqual(bodies[0]?.messages[0]);
});

test("a reminder is sent with one call only and is not stored in the conversation", async () => {
  models.answer([{ text: "Yes." }]);
  const { agent } = await recordCalls({ coach: { reminder: "Be brief." } });
  expect(JSON.stringify(await agent.messages())).not.toContain("Be brief");
});

test("a tool registered in beforeModel is offered in the same call and can be called until the turn ends", async () => {
  const blueprint = await testbed.newBlueprint({ tags: ["coach"], config: { coach: { give: [1] } } });
  const agent = await testbed.newAgent({ blueprint });
  expect(await agent.say("gifts")).toMatchObject({ data: { result: "Thanks." } });
  const results = (await agent.messages()).filter(({ role }) => role === "tool").map(({ content }) => content);
  expect(results).toEqual(["from_step_1 was called", "from_step_1 was called", "from_init was called"]);
  // Tools registered in beforeModel last for the turn, those registered in onInit stay.
  expect((await agent.state()).tools.map(({ name }: { name: string }) => name)).toEqual([
    "set_title",
    "of_the_class",
    "from_init",
  ]);
  models.answer([{ text: "Yes." }]);
  const { bodies } = await recordCalls({ coach: { give: [1] } });
  expect(bodies.map(listToolNames)[0]).toContain("from_step_1");
});

test("middleware can call a model outside the conversation, and the call is counted like any other", async () => {
  const ask = { prompt: "Is it kind?", role: "fast" };
  const blueprint = await testbed.newBlueprint({
    tags: ["coach"],
    models: { fast: "scripted:quick" },
    config: { coach: { ask } },
  });
  const agent = await testbed.newAgent({ blueprint });
  const { runId } = (await agent.say("hello")).data as { runId: string };
  expect(await agent.state()).toMatchObject({ answered: "A quick answer." });
  expect(getEventData(await agent.log(), "model.generated")).toMatchObject([
    {
      runId,
      step: 1,
      role: "fast",
      model: "scripted:quick",
      purpose: "test",
      usage: { inputTokens: expect.any(Number) },
    },
  ]);
  expect((await testbed.api(`${agent.at}/usage`)).body).toMatchObject({
    byModel: [
      { model: "scripted:default", calls: 1 },
      { model: "scripted:quick", calls: 1 },
    ],
  });
  expect(JSON.stringify(await agent.messages())).not.toContain("quick answer");
});
