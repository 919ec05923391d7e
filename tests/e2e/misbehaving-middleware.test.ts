import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { sample } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import type { TrickName } from "../kit/worker/system/puppet.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Misbehaving middleware: failures are contained, logged by name and rolled back, and the turn continues.

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });

let testbed: Testbed;
let models: ModelServer;

beforeAll(async () => {
  models = await openModelServer({ models: ["base"] });
  models.answer(() => ({ text: "Fine." }));
  testbed = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    env: { LLM_API_BASE: `${models.url}/v1`, LLM_API_KEY: "x" },
    config: {
      maxFailuresPerMinute: 1000,
      stallTimeoutSeconds: 3,
      startTimeoutSeconds: 8,
      turn: { heartbeatSeconds: 1, hookTimeoutSeconds: 1 },
    },
    scripts: {
      default: [
        {
          when: "everything",
          steps: [call("echo", { text: "hi" }), call("throws"), call("later"), { text: "Ended." }],
        },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
      slow: [{ steps: [{ wait: 600 }, { text: "A slow answer." }] }],
    },
  });
});

afterAll(async () => {
  await testbed?.stop();
  await models?.stop();
});

type Puppet = Partial<Record<string, TrickName>>;

async function newPuppet(
  puppet: Puppet,
  { tags = [], config = {}, ...more }: { tags?: string[]; config?: object; model?: string; models?: object } = {},
): Promise<TestAgent> {
  const blueprint = await testbed.newBlueprint({
    tags: ["default", "puppet", ...tags],
    config: { puppet, ...config },
    ...more,
  });
  return testbed.newAgent({ blueprint });
}

const listFailures = async (agent: TestAgent) =>
  (await agent.log()).flatMap(({ type, data }) =>
    type === "middleware.failed" ? [`${data.middlewareName} ${data.hook} ${data.step}: ${data.error}`] : [],
  );

const readStoredState = async (agent: TestAgent, name: string) =>
  (await agent.log()).flatMap(({ type, data }) =>
    type === "middleware.state_changed" && data.middlewareName === name ? [[data.key, data.value]] : [],
  );

const expectCompletion = async (agent: TestAgent, message = "hello") =>
  expect(await agent.say(message)).toMatchObject({ type: "agent.completed" });

test("a middleware that throws in every hook is logged each time, changes nothing, and the turn completes", async () => {
  const hooks = [
    "onInit",
    "onTick",
    "beforeModel",
    "onModelResult",
    "onToolStart",
    "onToolResult",
    "onToolError",
    "onResume",
    "onChildReport",
  ];
  const agent = await newPuppet(Object.fromEntries(hooks.map((hook) => [hook, "throw" as const])), {
    tags: ["witness"],
  });
  const { runId } = await agent.invoke({ message: "everything" });
  const deferred = await agent.waitForEvent("a deferred call", ({ type }) => type === "tool.deferred");
  await agent.waitForEvent("a pause", ({ type }) => type === "run.paused");
  await agent.report({ callId: (deferred.data as { callId: string }).callId, output: "resolved" });
  expect(await agent.waitForEnd(runId)).toMatchObject({ type: "agent.completed", data: { result: "Ended." } });
  const listStepFailures = (number: number, ...toolHooks: string[]) =>
    ["onTick", "beforeModel", "onModelResult", ...toolHooks].map(
      (hook) => `puppet ${hook} ${number}: This hook throws.`,
    );
  expect(await listFailures(agent)).toEqual([
    "puppet onInit 0: This hook throws.",
    ...listStepFailures(1, "onToolStart", "onToolResult"),
    ...listStepFailures(2, "onToolStart", "onToolError"),
    ...listStepFailures(3, "onToolStart", "onChildReport", "onResume"),
    ...listStepFailures(4),
  ]);
  // The middleware before and after it was not affected.
  const listSeenHooks = async (name: string) =>
    (await readStoredState(agent, name)).flatMap(([key, value]) =>
      key === "last" ? [String(value).split(" ")[0]] : [],
    );
  expect(await listSeenHooks("second")).toEqual(await listSeenHooks("first"));
  expect(new Set(await listSeenHooks("second"))).toEqual(new Set(hooks));
  expect(await readStoredState(agent, "puppet")).toEqual([]);
  expect(JSON.stringify((await agent.state()).tools)).not.toContain("prop_of_");
  const order = (await agent.log()).flatMap(({ type, data }) =>
    type.startsWith("middleware.before") && "middlewareName" in data ? [data.middlewareName] : [],
  );
  expect(order).not.toContain("puppet");
});

const contained: [TrickName, string][] = [
  ["reject later", "This hook rejects."],
  ["throw a text", "only words"],
  ["throw nothing", "undefined"],
  ["throw an unserializable value", "It threw a value that cannot be serialized."],
  ["throw an odd error", "5"],
  ["hang", "It did not finish within 1 s."],
];

test.each(contained)("a hook that would %s is contained", async (trick, message) => {
  const agent = await newPuppet({ onTick: trick, onModelResult: trick });
  await expectCompletion(agent);
  expect(await listFailures(agent)).toEqual([`puppet onTick 1: ${message}`, `puppet onModelResult 1: ${message}`]);
});

/** Runs a turn whose plan the coach edits as well, and returns what the model received. */
async function recordPlan(puppet: Puppet, coach: object = {}) {
  const config = { coach: { system: "Be kind.", without: ["throws"], ...coach } };
  const agent = await newPuppet(puppet, {
    tags: ["coach"],
    config,
    model: "openai:base",
    models: { fast: "scripted:slow" },
  });
  const before = models.countCalls();
  await expectCompletion(agent);
  const bodies = models
    .listRequests()
    .slice(before)
    .map(({ body, raw }) => ({
      raw,
      body: body as { messages: { content: string }[]; tools: { function: { name: string } }[] },
    }));
  const { raw, body } = bodies[0] as (typeof bodies)[0];
  return {
    agent,
    raw,
    system: body.messages[0]?.content,
    tools: body.tools.map((tool) => tool.function.name),
    calls: bodies.length,
  };
}

const invalidPlans: [TrickName, RegExp][] = [
  ["throw", /^This hook throws\.$/],
  ["hang", /within 1 s/],
  ["add an empty part", /must be a non-empty string/],
  ["add a number", /must be a non-empty string/],
  ["add too much", /may add at most 100000 characters/],
  ["add thousands", /may add at most 64 system parts/],
  ["add an empty reminder", /must be a non-empty string/],
  ["restrict to an unknown tool", /There is no tool “ehco”\. Did you mean echo\?/],
  ["remove a core tool", /“set_title” is a core tool and cannot be removed/],
  ["set a hot temperature", /from 0 to 2, not 3/],
  ["set a string as temperature", /from 0 to 2, not 1/],
  ["set no tokens", /must be a positive integer, not 0/],
  ["set an unknown setting", /Unknown setting “topP”/],
  ["assign the tools", /tools/],
  ["push a message", /not extensible/],
  ["change a message", /content/],
  [
    "register a core name",
    /Two tools are named “set_title”: one is from the core, the other from the middleware “puppet”\. Rename one\./,
  ],
  [
    "register a taken name",
    /Two tools are named “echo”: one is from the system, the other from the middleware “puppet”/,
  ],
  ["register junk", /“no name!” is not a tool\. Create it with defineTool\./],
  ["register an unserializable schema", /./],
  ["register thousands", /an agent can have at most 256 tools/],
  [
    "change in place",
    /state\.list\.1 was changed in place, which would not be stored\. Assign a new value: state\.list =/,
  ],
  ["change the request in place", /info\.request\.x was changed in place/],
  ["set the run", /run\.status cannot be set/],
  ["set the info", /info\.owner cannot be set/],
  ["change the config", /onTick/],
  ["change the props", /data/],
  ["store a circular value", /state\.loop cannot be stored as JSON/],
  ["store too much", /state\.much has 100002 characters/],
  ["store too many keys", /state already has 64 keys/],
];

test.each(invalidPlans)(
  "a hook that would %s changes nothing, and the plan of other middleware stays",
  async (trick, message) => {
    const { agent, raw, system, tools, calls } = await recordPlan({ beforeModel: trick });
    expect(await listFailures(agent)).toEqual([expect.stringMatching(/^puppet beforeModel 1: /)]);
    expect((await listFailures(agent))[0]?.slice("puppet beforeModel 1: ".length)).toMatch(message);
    expect(calls).toBe(1);
    expect(system).toMatch(/Be kind\.$/);
    expect(raw).not.toMatch(/puppet was here|prop_of_|Forget everything|flood_/);
    expect(tools).toEqual([
      "set_title",
      "executeCode",
      "sandbox",
      "bash",
      "askUser",
      "sleepUntil",
      "echo",
      "later",
      "later_alone",
      "later_slowly",
      "later_locally",
      "answers_anyway",
      "of_the_class",
      "write_todos",
      "createSubtask",
      "listFiles",
      "readFile",
      "writeFile",
      "editFile",
      "deleteFile",
      "moveFile",
      "glob",
      "grep",
      "task",
      "schedule",
      "channel_send",
      "from_init",
    ]);
    expect(await readStoredState(agent, "puppet")).toEqual([]);
  },
);

test("a hook that continues after its timeout cannot change the plan", async () => {
  // The next middleware is still planning when the late hook continues.
  const { agent, raw } = await recordPlan({ beforeModel: "continue after its timeout" }, { ask: { prompt: "Well?" } });
  expect(await listFailures(agent)).toEqual([expect.stringMatching(/^puppet .* within 1 s\.$/)]);
  expect(await agent.state()).toMatchObject({ answered: "A slow answer." });
  expect(raw).not.toContain("Too late");
});

test("a hook may store up to the limit, and a key that it sets often is written once", async () => {
  const frequent = await newPuppet({ onTick: "store one key very often" });
  await expectCompletion(frequent);
  expect(await readStoredState(frequent, "puppet")).toEqual([
    ["onTick", "begun"],
    ["number", 9999],
  ]);
  const large = await newPuppet({ onTick: "store almost too much" });
  await expectCompletion(large);
  expect(await listFailures(large)).toEqual([]);
  const sizes = (await readStoredState(large, "puppet")).map(([, value]) => String(value).length);
  expect(sizes.filter((size) => size === 60_000)).toHaveLength(60);
});

const invalidStates: [TrickName, RegExp][] = [
  ["throw", /^This hook throws\.$/],
  ["return a circular value", /circular/],
  ["return a string", /must return an object synchronously/],
  ["return a promise", /must return an object synchronously/],
  ["return too much", /the maximum is 65536/],
];

test.each(invalidStates)(
  "a state() that would %s is replaced by its error, and the rest of the state is complete",
  async (trick, message) => {
    const agent = await newPuppet({ state: trick }, { tags: ["witness"] });
    expect(await agent.state()).toMatchObject({
      puppet: { error: expect.stringMatching(message) },
      first: 1,
      second: 1,
      todos: [],
    });
  },
);

test("a cancel does not wait for a running hook, and later hooks do not run", async () => {
  const agent = await newPuppet({ onTick: "hang" }, { tags: ["witness"] });
  const { runId } = await agent.invoke({ message: "hello" });
  await waitUntil("the first witness", async () =>
    (await readStoredState(agent, "first")).some(([, value]) => value === "onTick 1"),
  );
  expect(await agent.cancel()).toEqual({ runId, status: "canceled" });
  expect(await agent.waitForEnd(runId)).toMatchObject({ type: "run.canceled" });
  const next = await agent.invoke({ message: "another" });
  expect(await agent.waitForEnd(next.runId)).toMatchObject({
    type: "agent.completed",
    data: { result: "You said: another" },
  });
  const log: AgentEvent[] = await agent.log();
  const canceled = log.findIndex(({ type }) => type === "run.canceled");
  const ticks = log.flatMap(({ type, data }, at) =>
    type === "middleware.state_changed" && data.value === "onTick 1" ? [[data.middlewareName, at < canceled]] : [],
  );
  expect(ticks).toEqual([
    ["first", true],
    ["first", false],
    ["second", false],
  ]);
  expect(await agent.state()).toMatchObject({ firstTicks: 2, secondTicks: 1 });
  expect(
    log
      .filter(({ type }) => type === "middleware.failed")
      .every(({ data }) => "runId" in data && data.runId === next.runId),
  ).toBe(true);
});

test("turns of an agent whose system and class have a tool of the same name fail with both sources", async () => {
  const agent = await testbed.newAgent({ blueprint: await testbed.newBlueprint({ tags: ["clash"] }) });
  expect(await agent.say("hello")).toMatchObject({
    type: "agent.error",
    data: {
      code: "internal",
      error: "Two tools are named “of_the_class”: one is from the system, the other from the class. Rename one.",
    },
  });
  await expectCompletion(await testbed.newAgent());
});

test("a blueprint with an unknown tag is stored, with a warning that suggests the closest tag", async () => {
  const { status, body } = await testbed.api("/agency/global/blueprints", "POST", {
    name: "typo",
    tags: ["default", "witnes", "zzz"],
  });
  expect(status).toBe(201);
  expect(body.warnings).toEqual([
    "No tool or middleware has the tag “witnes”. Did you mean “witness”?",
    "No tool or middleware has the tag “zzz”. Available: apps, clash, coach, default, fs, inspector, planning, puppet, reader, schedules, subagents, tasks, team, witness, words.",
  ]);
});

const spinningHooks: [when: string, hook: string][] = [
  ["a step begins", "onTick"],
  ["the agent wakes", "onInit"],
];

// Each keeps main, and with it a core, busy until the daemon has killed it twice.
test.each(sample(spinningHooks, { name: "spinning hooks", size: 1, kindOf: () => "spin" }))(
  "a hook that spins when %s blocks main; its turn fails in the end and the host recovers",
  async (_, hook) => {
    const [spinning, other] = [await newPuppet({ [hook]: "spin" }), await testbed.newAgent()];
    // Main may be killed before it responds; the same key is the same turn.
    const { runId } = await waitUntil(
      "the admission",
      () => spinning.invoke({ message: "hello", idempotencyKey: "once" }),
      {
        timeoutMs: 80_000,
      },
    );
    expect(await spinning.waitForEnd(runId, 80_000)).toMatchObject({ type: "agent.error", data: { code: "crashed" } });
    await expectCompletion(other);
    expect(
      (await spinning.log()).filter(({ type }) => type === "agent.error" || type === "request.accepted"),
    ).toHaveLength(2);
  },
  100_000,
);
