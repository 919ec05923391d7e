import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Middleware that behaves: what it sees and when, what it can do, and what is kept of it.

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });

let workshop: Testbed;
let models: ModelServer;

beforeAll(async () => {
  models = await openModelServer({ models: ["house", "small"] });
  workshop = await openTestbed({
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
  await workshop?.stop();
  await models?.stop();
});

const getEventData = <T extends AgentEvent["type"]>(log: AgentEvent[], type: T) =>
  log.flatMap((event) => (event.type === type ? [event.data as Extract<AgentEvent, { type: T }>["data"]] : []));

/** What each witness wrote down, in the order of the log. */
async function readWitnessed(agent: TestAgent): Promise<string[]> {
  return getEventData(await agent.log(), "middleware.state_changed").flatMap(({ middlewareName, key, value }) =>
    key === "last" ? [`${middlewareName}: ${String(value)}`] : [],
  );
}

const expectBoth = (...seen: string[]) => seen.flatMap((words) => [`first: ${words}`, `second: ${words}`]);

test("every hook runs at its point, in the order in which the middleware was added, async or not", async () => {
  const agent = await workshop.newAgent({ blueprint: "watched" });
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

test("before and after events are in the log, one for each middleware and call", async () => {
  const agent = await workshop.newAgent({ blueprint: "watched" });
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

test("tags select: what shares none with the blueprint is neither run nor offered", async () => {
  const plain = await workshop.newAgent({ blueprint: "think" });
  await plain.say("hello");
  expect((await plain.log()).filter(({ type }) => type.startsWith("middleware."))).toEqual([]);
  const names = async (tags: string[]) => {
    const agent = await workshop.newAgent({ blueprint: await workshop.newBlueprint({ tags }) });
    return (await agent.state()).tools.map(({ name }: { name: string }) => name);
  };
  expect(await names(["words"])).toEqual(["set_title", "echo", "of_the_class"]);
  expect(await names(["words", "planning", "coach"])).toEqual([
    "set_title",
    "echo",
    "of_the_class",
    "write_todos",
    "from_init",
  ]);
});

test("state() is part of the agent's state, and cannot take the place of what is ours", async () => {
  const agent = await workshop.newAgent({ blueprint: "watched" });
  expect(await agent.state()).toMatchObject({ first: 1, second: 1 });
  await agent.say("hello");
  expect(await agent.state()).toMatchObject({ first: 4, second: 4 });
  const puppet = await workshop.newAgent({
    blueprint: await workshop.newBlueprint({ tags: ["puppet"], config: { puppet: { state: "take our place" } } }),
  });
  const state = await puppet.state();
  expect(state).toMatchObject({ own: "fine", messages: [] });
  expect(state).not.toHaveProperty("title");
});

test("what a middleware keeps survives a kill, and is gone when the history is cleared", async () => {
  const agent = await workshop.newAgent({ blueprint: "watched" });
  await agent.say("hello");
  await workshop.restartMain();
  // It woke once more, which is another onInit.
  expect(await agent.state()).toMatchObject({ first: 5, second: 5 });
  expect((await workshop.api(`${agent.at}/messages`, "DELETE")).status).toBe(204);
  expect(await agent.state()).toMatchObject({ first: 0, second: 0 });
  await agent.say("hello again");
  expect(await agent.state()).toMatchObject({ first: 3, second: 3 });
});

test("a turn that was cut off goes on, and middleware hears of it", async () => {
  const agent = await workshop.newAgent({ blueprint: "watched" });
  const { runId } = await agent.invoke({ message: "silence" });
  await agent.seen("the model's call", ({ type }) => type === "model.started");
  await workshop.restartMain();
  await agent.seen(
    "word of it",
    ({ type, data }) => type === "middleware.state_changed" && "value" in data && data.value === "onResume recovered 0",
  );
  expect(await agent.cancel()).toMatchObject({ runId, status: "canceled" });
});

test("a config is parsed by the middleware's own schema, and refused by the path of its problem", async () => {
  const agent = await workshop.newAgent({ blueprint: "coached" });
  expect(await agent.state()).toMatchObject({ coached: { system: "Be kind.", give: [] } });
  const refused = await workshop.api("/agency/global/blueprints", "POST", {
    name: "wrong",
    tags: ["coach"],
    config: { coach: { reminder: 5 }, own: true },
  });
  expect(refused).toMatchObject({
    status: 400,
    body: {
      error: {
        code: "bad_request",
        message: expect.stringMatching(/“wrong”.*“coach”/),
        details: { problems: [{ path: ["config", "coach", "reminder"] }] },
      },
    },
  });
  const misspelt = await workshop.api("/agency/global/blueprints", "POST", {
    name: "wrong",
    tags: ["coach"],
    config: { coach: { remindr: "x" } },
  });
  expect(misspelt).toMatchObject({
    status: 400,
    body: { error: { details: { problems: [{ path: ["config", "coach", "remindr"], message: "unknown field" }] } } },
  });
  // Without the tag nobody reads it.
  expect(
    (await workshop.api("/agency/global/blueprints", "POST", { name: "fine", config: { coach: { reminder: 5 } } }))
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

/** The bodies of the calls that a turn of such an agent made. */
async function recordCalls(config: object, tags = ["default", "coach"]): Promise<{ agent: TestAgent; bodies: Wire[] }> {
  const blueprint = await workshop.newBlueprint({ tags, prompt: "A role.", model: "openai:house", config });
  const agent = await workshop.newAgent({ blueprint });
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

test("the plan is what the model is told: system parts last, reminders at the end, tools and settings as planned", async () => {
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
      /^You are an agent[^]*\n\n## Your role\nA role\.\n\n## Additional Context\nThe class was here\.\n\nBe kind\.$/,
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

test("a reminder is for one call only, and nobody reads it in the conversation", async () => {
  models.answer([{ text: "Yes." }]);
  const { agent } = await recordCalls({ coach: { reminder: "Be brief." } });
  expect(JSON.stringify(await agent.messages())).not.toContain("Be brief");
});

test("a tool registered while the request is planned is offered in the same call, and called in it and in the next step", async () => {
  const blueprint = await workshop.newBlueprint({ tags: ["coach"], config: { coach: { give: [1] } } });
  const agent = await workshop.newAgent({ blueprint });
  expect(await agent.say("gifts")).toMatchObject({ data: { result: "Thanks." } });
  const results = (await agent.messages()).filter(({ role }) => role === "tool").map(({ content }) => content);
  expect(results).toEqual(["from_step_1 was called", "from_step_1 was called", "from_init was called"]);
  // For the rest of the turn: what was given in onInit stays.
  expect((await agent.state()).tools.map(({ name }: { name: string }) => name)).toEqual([
    "set_title",
    "of_the_class",
    "from_init",
  ]);
  models.answer([{ text: "Yes." }]);
  const { bodies } = await recordCalls({ coach: { give: [1] } });
  expect(bodies.map(listToolNames)[0]).toContain("from_step_1");
});

test("a model can be consulted beside the conversation, and is counted like every call", async () => {
  const ask = { prompt: "Is it kind?", role: "fast" };
  const blueprint = await workshop.newBlueprint({
    tags: ["coach"],
    models: { fast: "scripted:quick" },
    config: { coach: { ask } },
  });
  const agent = await workshop.newAgent({ blueprint });
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
  expect((await workshop.api(`${agent.at}/usage`)).body).toMatchObject({
    byModel: [
      { model: "scripted:default", calls: 1 },
      { model: "scripted:quick", calls: 1 },
    ],
  });
  expect(JSON.stringify(await agent.messages())).not.toContain("quick answer");
});
