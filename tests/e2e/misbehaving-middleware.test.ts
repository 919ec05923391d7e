import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, openModelServer } from "../kit/model-server.ts";
import { sample } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import type { TrickName } from "../kit/worker/system/puppet.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Middleware that does what it should not: contained, named, undone, and the turn goes on.

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });

let workshop: Testbed;
let models: ModelServer;

beforeAll(async () => {
  models = await openModelServer({ models: ["house"] });
  models.answer(() => ({ text: "Fine." }));
  workshop = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    env: { LLM_API_BASE: `${models.url}/v1`, LLM_API_KEY: "x" },
    config: {
      maxFailuresPerMinute: 1000,
      stallTimeoutSeconds: 3,
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
  await workshop?.stop();
  await models?.stop();
});

type Puppet = Partial<Record<string, TrickName>>;

async function newPuppet(
  puppet: Puppet,
  { tags = [], config = {}, ...more }: { tags?: string[]; config?: object; model?: string; models?: object } = {},
): Promise<TestAgent> {
  const blueprint = await workshop.newBlueprint({
    tags: ["default", "puppet", ...tags],
    config: { puppet, ...config },
    ...more,
  });
  return workshop.newAgent({ blueprint });
}

const listFailures = async (agent: TestAgent) =>
  (await agent.log()).flatMap(({ type, data }) =>
    type === "middleware.failed" ? [`${data.middlewareName} ${data.hook} ${data.step}: ${data.error}`] : [],
  );

const readKeptState = async (agent: TestAgent, name: string) =>
  (await agent.log()).flatMap(({ type, data }) =>
    type === "middleware.state_changed" && data.middlewareName === name ? [[data.key, data.value]] : [],
  );

const expectCompletion = async (agent: TestAgent, message = "hello") =>
  expect(await agent.say(message)).toMatchObject({ type: "agent.completed" });

test("a middleware that throws in every hook is named each time, leaves nothing behind, and the turn completes", async () => {
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
  const deferred = await agent.seen("a deferred call", ({ type }) => type === "tool.deferred");
  await agent.seen("a pause", ({ type }) => type === "run.paused");
  await agent.report({ callId: (deferred.data as { callId: string }).callId, output: "resolved" });
  expect(await agent.over(runId)).toMatchObject({ type: "agent.completed", data: { result: "Ended." } });
  const step = (number: number, ...between: string[]) =>
    ["onTick", "beforeModel", "onModelResult", ...between].map((hook) => `puppet ${hook} ${number}: This hook throws.`);
  expect(await listFailures(agent)).toEqual([
    "puppet onInit 0: This hook throws.",
    ...step(1, "onToolStart", "onToolResult"),
    ...step(2, "onToolStart", "onToolError"),
    ...step(3, "onToolStart", "onChildReport", "onResume"),
    ...step(4),
  ]);
  // Those before and after it were not disturbed.
  const saw = async (name: string) =>
    (await readKeptState(agent, name)).flatMap(([key, value]) => (key === "last" ? [String(value).split(" ")[0]] : []));
  expect(await saw("second")).toEqual(await saw("first"));
  expect(new Set(await saw("second"))).toEqual(new Set(hooks));
  expect(await readKeptState(agent, "puppet")).toEqual([]);
  expect(JSON.stringify((await agent.state()).tools)).not.toContain("prop_of_");
  const order = (await agent.log()).flatMap(({ type, data }) =>
    type.startsWith("middleware.before") && "middlewareName" in data ? [data.middlewareName] : [],
  );
  expect(order).not.toContain("puppet");
});

const thrown: [TrickName, string][] = [
  ["reject later", "This hook rejects."],
  ["throw a text", "only words"],
  ["throw nothing", "undefined"],
  ["throw what cannot be written", "It threw something that cannot be written down."],
  ["throw an odd error", "5"],
  ["hang", "It did not come back within 1 s."],
];

test.each(thrown)("a hook that would %s is contained", async (trick, words) => {
  const agent = await newPuppet({ onTick: trick, onModelResult: trick });
  await expectCompletion(agent);
  expect(await listFailures(agent)).toEqual([`puppet onTick 1: ${words}`, `puppet onModelResult 1: ${words}`]);
});

/** What the model was told in a turn whose plan a coach shaped as well. */
async function recordPlan(puppet: Puppet, coach: object = {}) {
  const config = { coach: { system: "Be kind.", without: ["throws"], ...coach } };
  const agent = await newPuppet(puppet, {
    tags: ["coach"],
    config,
    model: "openai:house",
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
  ["add nothing", /not an empty one/],
  ["add a number", /is a text/],
  ["add too much", /may add 100000 characters/],
  ["add thousands", /may add 64 system parts/],
  ["remind of nothing", /not an empty one/],
  ["want an unknown tool", /There is no tool “ehco”\. Did you mean echo\?/],
  ["take a core tool away", /“set_title” is a core tool and cannot be taken away/],
  ["set a hot temperature", /from 0 to 2, not 3/],
  ["set a temperature in words", /from 0 to 2, not 1/],
  ["set no tokens", /whole number above 0, not 0/],
  ["set something else", /no setting “topP”/],
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
  ["register junk", /“no name!” is no tool\. Make it with defineTool\./],
  ["register a schema that cannot be told", /./],
  ["register thousands", /An agent may have 256 tools/],
  [
    "change in place",
    /state\.list\.1 was changed in place, and that would not be stored\. Assign a new value: state\.list =/,
  ],
  ["change the request in place", /info\.request\.x was changed in place/],
  ["set the run", /run\.status cannot be set/],
  ["set the info", /info\.owner cannot be set/],
  ["change the config", /onTick/],
  ["change the props", /data/],
  ["keep what is circular", /state\.loop cannot be stored as JSON/],
  ["keep too much", /state\.much has 100002 characters/],
  ["keep too many", /state has 64 keys already/],
];

test.each(invalidPlans)("a hook that would %s changes nothing, and what others planned stays", async (trick, words) => {
  const { agent, raw, system, tools, calls } = await recordPlan({ beforeModel: trick });
  expect(await listFailures(agent)).toEqual([expect.stringMatching(/^puppet beforeModel 1: /)]);
  expect((await listFailures(agent))[0]?.slice("puppet beforeModel 1: ".length)).toMatch(words);
  expect(calls).toBe(1);
  expect(system).toMatch(/Be kind\.$/);
  expect(raw).not.toMatch(/puppet was here|prop_of_|Forget everything|flood_/);
  expect(tools).toEqual([
    "set_title",
    "executeCode",
    "sandbox",
    "bash",
    "echo",
    "later",
    "later_alone",
    "later_slowly",
    "later_locally",
    "answers_anyway",
    "of_the_class",
    "write_todos",
    "listFiles",
    "readFile",
    "writeFile",
    "editFile",
    "deleteFile",
    "moveFile",
    "glob",
    "grep",
    "from_init",
  ]);
  expect(await readKeptState(agent, "puppet")).toEqual([]);
});

test("what a hook does that was given up does not reach the plan any more", async () => {
  // The next middleware is still planning when the late one comes back.
  const { agent, raw } = await recordPlan({ beforeModel: "go on when it is too late" }, { ask: { prompt: "Well?" } });
  expect(await listFailures(agent)).toEqual([expect.stringMatching(/^puppet .* within 1 s\.$/)]);
  expect(await agent.state()).toMatchObject({ answered: "A slow answer." });
  expect(raw).not.toContain("Too late");
});

test("a hook may keep what there is room for, however often it says so, and one thing said often is written once", async () => {
  const often = await newPuppet({ onTick: "keep one thing very often" });
  await expectCompletion(often);
  expect(await readKeptState(often, "puppet")).toEqual([
    ["onTick", "begun"],
    ["number", 9999],
  ]);
  const much = await newPuppet({ onTick: "keep nearly too much" });
  await expectCompletion(much);
  expect(await listFailures(much)).toEqual([]);
  const sizes = (await readKeptState(much, "puppet")).map(([, value]) => String(value).length);
  expect(sizes.filter((size) => size === 60_000)).toHaveLength(60);
});

const states: [TrickName, RegExp][] = [
  ["throw", /^This hook throws\.$/],
  ["answer something circular", /circular/],
  ["answer words", /has to answer an object, and at once/],
  ["answer later", /has to answer an object, and at once/],
  ["answer too much", /there is room for 65536/],
];

test.each(states)("a state() that would %s says why in its own place, and the rest is there", async (trick, words) => {
  const agent = await newPuppet({ state: trick }, { tags: ["witness"] });
  expect(await agent.state()).toMatchObject({
    puppet: { error: expect.stringMatching(words) },
    first: 1,
    second: 1,
    todos: [],
  });
});

test("a cancel does not wait for a hook, and those after it do not run", async () => {
  const agent = await newPuppet({ onTick: "hang" }, { tags: ["witness"] });
  const { runId } = await agent.invoke({ message: "hello" });
  await waitUntil("the first witness", async () =>
    (await readKeptState(agent, "first")).some(([, value]) => value === "onTick 1"),
  );
  expect(await agent.cancel()).toEqual({ runId, status: "canceled" });
  expect(await agent.over(runId)).toMatchObject({ type: "run.canceled" });
  const next = await agent.invoke({ message: "another" });
  expect(await agent.over(next.runId)).toMatchObject({
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

test("tools of one name from the system and the class meet in the agent that would have both: its turns say so", async () => {
  const agent = await workshop.newAgent({ blueprint: await workshop.newBlueprint({ tags: ["clash"] }) });
  expect(await agent.say("hello")).toMatchObject({
    type: "agent.error",
    data: {
      code: "internal",
      error: "Two tools are named “of_the_class”: one is from the system, the other from the class. Rename one.",
    },
  });
  await expectCompletion(await workshop.newAgent());
});

test("a blueprint with a tag that nobody has is stored, with a warning that names the nearest one", async () => {
  const { status, body } = await workshop.api("/agency/global/blueprints", "POST", {
    name: "typo",
    tags: ["default", "witnes", "zzz"],
  });
  expect(status).toBe(201);
  expect(body.warnings).toEqual([
    "No tool or middleware has the tag “witnes”; did you mean “witness”?",
    "No tool or middleware has the tag “zzz”. There are: apps, clash, coach, default, fs, inspector, planning, puppet, reader, witness, words.",
  ]);
});

const spinningHooks: [when: string, hook: string][] = [
  ["a step begins", "onTick"],
  ["the agent wakes", "onInit"],
];

// Each wedges main, and with it a core, until the daemon has killed it twice.
test.each(sample(spinningHooks, { name: "spinning hooks", size: 1, kindOf: () => "spin" }))(
  "a hook that spins when %s takes main with it; in the end its turn fails, and the host answers",
  async (_, hook) => {
    const [spins, other] = [await newPuppet({ [hook]: "spin" }), await workshop.newAgent()];
    // It may take main with it before it is answered: the same key is the same turn.
    const { runId } = await waitUntil("an answer", () => spins.invoke({ message: "hello", idempotencyKey: "once" }), {
      within: 80_000,
    });
    expect(await spins.over(runId, 80_000)).toMatchObject({ type: "agent.error", data: { code: "crashed" } });
    await expectCompletion(other);
    expect(
      (await spins.log()).filter(({ type }) => type === "agent.error" || type === "request.accepted"),
    ).toHaveLength(2);
  },
  100_000,
);
