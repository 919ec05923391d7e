import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, type ModelServer, openModelServer, type RecordedRequest } from "../kit/model-server.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { task } from "../kit/worker/team.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// Delegations that make no sense, are too many or too large, and sub-agents that lie.

let testbed: Testbed;
let server: ModelServer;

const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const result = { text: "{{ results.0 }}" };
const exchange = (when: string, ...steps: object[]) => ({ when: `/^${when}$/`, steps });
const subtask = (input: object = {}) => call("createSubtask", { type: "code", title: "A step", ...input });
const delegate = (input: object = {}) =>
  call("delegateToSubagent", { taskId: "{{ results.createSubtask.taskId }}", title: "A step", ...input });

/** The longest assignment, of characters that take six bytes each in the log. */
const longText = "\u0001".repeat(100_000);

/** Answers “960 delegations” with so many, and 40 other calls. */
function requestCalls({ latest, results }: RecordedRequest): Answer {
  if (results.length > 0) return { text: "done" };
  const delegations = Array.from({ length: Number.parseInt(latest, 10) }, (_, index) => ({
    name: "task",
    input: { description: `number ${index}` },
  }));
  const others = Array.from({ length: 40 }, (_, index) => ({ name: "readFile", input: { path: `${index}.txt` } }));
  return { toolCalls: [...delegations, ...others] };
}

beforeAll(async () => {
  server = await openModelServer();
  server.answer(requestCalls);
  testbed = await openTestbed({
    worker: new URL("../kit/worker/family.worker.ts", import.meta.url),
    config: {
      maxFailuresPerMinute: 1000,
      sandboxSlots: 0,
      model: "scripted:default",
      providers: { local: { baseUrl: `${server.url}/v1` } },
      models: { fast: "scripted:fast" },
      turn: { heartbeatSeconds: 1 },
      subagents: { maxActive: 8 },
    },
    scripts: {
      default: [
        exchange(
          "doomed",
          { calls: [...Array.from({ length: 8 }, () => task("hold")), task("hello", { subagentType: "doomed" })] },
          { text: "{{ results.8 }}" },
        ),
        exchange(
          "blocked",
          subtask(),
          subtask({ title: "Later", dependencies: ["{{ results.createSubtask.taskId }}"] }),
          delegate(),
          { text: "{{ results.2 }}" },
        ),
        exchange(
          "finished",
          subtask(),
          call("completeTask", { taskId: "{{ results.createSubtask.taskId }}", result: "done" }),
          delegate(),
          { text: "{{ results.2 }}" },
        ),
        ...["report", "actions", "lease"].map((method) =>
          exchange(
            `forge ${method}`,
            subtask(),
            delegate({ description: `${method} for {{ results.createSubtask.taskId }}` }),
            call("waitForSubagents"),
            { text: "{{ results.2 }}" },
          ),
        ),
        ...["a/b", "..", ".", "ünï", "a b", "", "x".repeat(5000)].map((taskId, index) =>
          exchange(`named ${index}`, call("delegateToSubagent", { taskId, title: "A step" }), result),
        ),
      ],
      fast: [
        exchange("hold", { wait: 2500 }, { text: "held" }),
        { when: "/ for task-/", steps: [call("forge", { text: "{{ message }}" }), result] },
        { steps: [{ text: "I heard {{ message }}" }] },
      ],
      // A script has at most 1 MiB.
      large: [exchange("too long", { call: task("x".repeat(1_000_000)) }, result)],
      long: [exchange("long", { call: task(longText) }, result)],
      ping: [{ steps: [{ call: task("bounce", { subagentType: "pong" }) }, { text: "ping {{ results.0 }}" }] }],
      pong: [{ steps: [{ call: task("bounce", { subagentType: "ping" }) }, { text: "pong {{ results.0 }}" }] }],
    },
  });
  for (const [name, other] of [
    ["ping", "pong"],
    ["pong", "ping"],
  ])
    await testbed.api("/agency/global/blueprints", "POST", {
      name,
      model: `scripted:${name}`,
      config: { subagents: [other] },
    });
});

afterAll(async () => {
  await testbed?.stop();
  await server?.stop();
});

async function say(agent: TestAgent, message: string): Promise<string> {
  const { type, data } = await agent.say(message);
  expect([message, type, JSON.stringify(data)]).toEqual([message, "agent.completed", expect.any(String)]);
  return (data as { result: string }).result;
}

const list = async (agent: string) => (await testbed.api(`/agents/${agent}/subagents`)).body.subagents;

test("an assignment of 1 MB is refused by tools and over HTTP, and the longest one arrives verbatim", async () => {
  const large = await testbed.newAgent({ model: "scripted:large" });
  expect(await say(large, "too long")).toMatch(/description.*100000/s);
  expect(await list(large.name)).toEqual([]);
  const agent = await testbed.newAgent({ name: "ada", model: "scripted:long" });
  const { body } = await testbed.api("/agents/ada/tasks", "POST", { title: "A step" });
  const text = "x".repeat(1024 * 1024);
  for (const [path, more] of [
    ["tasks", { title: "A step", description: text }],
    ["subagents/spawn", { taskId: body.id, description: text }],
    ["subagents/spawn", { taskId: body.id, context: text }],
  ] as const)
    expect([path, (await testbed.api(`/agents/ada/${path}`, "POST", more)).status]).toEqual([
      path,
      expect.toBeOneOf([400, 413]),
    ]);
  await say(agent, "long");
  const [{ facetName, status }] = await list("ada");
  expect(status).toBe("complete");
  const { messages } = (await testbed.api(`/agents/ada/sub/${facetName}/messages`)).body;
  expect(messages[0].content === longText).toBe(true);
});

test("one whose blueprint was deleted while it waited to start fails with the reason", async () => {
  await testbed.api("/agency/global/blueprints", "POST", { name: "doomed" });
  const agent = await testbed.newAgent({ name: "bea" });
  const { runId } = await agent.invoke({ message: "doomed" });
  await waitUntil("nine sub-agents", async () => (await list("bea")).length === 9);
  const [waiting] = await list("bea");
  expect(waiting).toMatchObject({ agentType: "doomed", status: "waiting" });
  expect((await testbed.api("/agency/global/blueprints/doomed", "DELETE")).status).toBe(204);
  expect((await agent.waitForEnd(runId)).data).toMatchObject({
    result: expect.stringContaining("There is no sub-agent type “doomed” any more."),
  });
  expect((await list("bea"))[0]).toMatchObject({ status: "failed" });
});

test("of 1,000 calls in one answer, 200 delegations are done a few at a time and the others are refused", async () => {
  const agent = await testbed.newAgent({ name: "cid", model: "local:test-model" });
  const { runId } = await agent.invoke({ message: "960 delegations" });
  expect((await agent.waitForEnd(runId, 120_000)).data).toMatchObject({ result: "done" });
  const events = await agent.log();
  const completed = events.filter(({ type }) => type === "subagent.completed");
  expect(completed.map(({ data }) => (data as { status: string }).status)).toEqual(Array(200).fill("complete"));
  const errors = events.flatMap(({ type, data }) => (type === "tool.error" ? [data] : []));
  expect(errors.filter(({ error }) => error.includes("at most 200 sub-agents"))).toHaveLength(760);
  expect(errors.filter(({ toolName }) => toolName === "readFile")).toHaveLength(40);
  let active = 0;
  let highest = 0;
  for (const { type, data } of events) {
    if ((type === "subagent.spawned" && !data.queued) || type === "subagent.started") active++;
    if (type === "subagent.completed") active--;
    highest = Math.max(highest, active);
  }
  expect(highest).toBe(8);
  const more = await agent.say("961 delegations");
  expect(more).toMatchObject({
    type: "agent.error",
    data: { error: "The model requested 1001 tool calls at once; the maximum is 1000." },
  });
}, 150_000);

test("agents that delegate to each other in a circle end at the deepest level", async () => {
  const agent = await testbed.newAgent({ name: "dan", blueprint: "ping" });
  expect(await say(agent, "bounce")).toMatch(/^ping pong ping pong .*There is no tool “task”/);
});

test("a finished or blocked task is not delegated", async () => {
  const agent = await testbed.newAgent({ name: "eve" });
  expect(await say(agent, "blocked")).toMatch(/waits for/);
  expect(await say(agent, "finished")).toMatch(/is complete; create a new one to delegate/);
  expect(await list("eve")).toEqual([]);
});

test("reports, actions and leases with another token are refused", async () => {
  const agent = await testbed.newAgent({ name: "fay" });
  for (const method of ["report", "actions", "lease"]) {
    const { subagents } = JSON.parse(await say(agent, `forge ${method}`));
    expect([method, subagents]).toMatchObject([
      method,
      [
        {
          status: "complete",
          result: expect.stringContaining("This is not the sub-agent that the task was delegated to."),
        },
      ],
    ]);
  }
  const events = await agent.log();
  expect(events.filter(({ type }) => type === "subagent.completed")).toHaveLength(3);
  expect(JSON.stringify(events)).not.toContain("forged");
  expect(events.filter(({ type }) => type === "subagent.spent")).toEqual([]);
});

test("names with slashes, dots and other characters reach nothing and create nothing", async () => {
  const agent = await testbed.newAgent({ name: "gus" });
  const listFacets = () =>
    readdirSync(join(testbed.home, "objects", "think")).filter((file) => file.endsWith(".sqlite")).length;
  const before = listFacets();
  for (let index = 0; index < 7; index++) expect(await say(agent, `named ${index}`)).toMatch(/There is no task|taskId/);
  // A client resolves “.” and “..” itself.
  const names = ["a/b", "../b", "...", "ünï", "a b", "subagent-x/../y", "\0", "~", "a~b", "%", "x".repeat(5000)];
  for (const name of names.map(encodeURIComponent)) {
    for (const [path, method, body] of [
      [`sub/${name}/state`, "GET", undefined],
      [`sub/${name}/invoke`, "POST", { message: "hi" }],
      [`sub/subagent-x/sub/${name}/state`, "GET", undefined],
      [`sub/${name}`, "DELETE", undefined],
      [`subagents/${name}`, "GET", undefined],
      [`subagents/${name}`, "DELETE", undefined],
    ] as const) {
      const { status } = await testbed.api(`/agents/gus/${path}`, method, body);
      expect([path, method, status]).toEqual([path, method, expect.toBeOneOf([400, 404, 405, 414])]);
    }
    const spawned = await testbed.api("/agents/gus/subagents/spawn", "POST", { taskId: decodeURIComponent(name) });
    expect([name, spawned.status]).toEqual([name, expect.toBeOneOf([400, 404])]);
  }
  expect(await list("gus")).toEqual([]);
  expect(listFacets()).toBe(before);
});
