import type { AgentEvent } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../kit/random.ts";
import { isLongRun, getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { turnEndTypes, openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Tools whose results are reported later: the turn pauses, nothing is held open, and every call gets exactly one
// result.

const createLaterCall = (tool = "later", note = "", ms = 0) => ({ tool, input: { note, ms } });
const createExchange = (when: string, ...calls: object[]) => ({
  when,
  steps: [{ calls }, { text: "Heard: {{ results.0 }}" }],
});

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    worker: new URL("../kit/worker/system.worker.ts", import.meta.url),
    config: { maxFailuresPerMinute: 1000, turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 } },
    scripts: {
      default: [
        createExchange("ask one", createLaterCall()),
        {
          when: "ask two",
          steps: [
            { calls: [createLaterCall("later", "a"), createLaterCall("later", "b")] },
            { text: "{{ results.0 }}, {{ results.1 }}" },
          ],
        },
        {
          when: "ask twice",
          steps: [
            { call: createLaterCall("later", "a") },
            { call: createLaterCall("later", "b") },
            { text: "{{ results.0 }}, {{ results.1 }}" },
          ],
        },
        createExchange("ask alone", createLaterCall("later_alone")),
        createExchange("ask locally", createLaterCall("later_locally")),
        createExchange("ask slowly", createLaterCall("later_slowly", "", 1_500)),
        createExchange("ask soon", createLaterCall("later_slowly", "", 100)),
        createExchange("answer anyway", createLaterCall("answers_anyway", "", 1_500)),
        {
          when: "mix",
          steps: [
            { calls: [{ tool: "echo", input: { text: "at once" } }, createLaterCall(), { tool: "throws", input: {} }] },
            { text: "{{ results.0 }}, {{ results.1 }}" },
          ],
        },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

const listCalls = (log: AgentEvent[]) =>
  log.flatMap(({ type, data }) => (type === "model.completed" ? data.toolCalls.map(({ id }) => id) : []));
const listDeferred = (log: AgentEvent[]) =>
  log.flatMap(({ type, data }) => (type === "tool.deferred" ? [data.callId] : []));
const waitForPause = (agent: TestAgent, times = 1) =>
  waitUntil("a pause", async () => (await agent.log()).filter(({ type }) => type === "run.paused").length === times);

/** Starts a turn and waits until it is paused for its deferred calls. */
async function startPausedTurn(message: string, blueprint = "think") {
  const agent = await testbed.newAgent({ blueprint });
  const { runId } = await agent.invoke({ message });
  await waitForPause(agent);
  return { agent, runId, calls: listDeferred(await agent.log()) };
}

/** Starts a turn and waits until its tool is running. */
async function startToolCall(message: string, blueprint = "think") {
  const agent = await testbed.newAgent({ blueprint });
  const { runId } = await agent.invoke({ message });
  const started = await agent.waitForEvent("the call", ({ type }) => type === "tool.started");
  return { agent, runId, callId: (started.data as { callId: string }).callId };
}

async function expectOneResultEach(agent: TestAgent): Promise<void> {
  const log = await agent.log();
  const results = log.flatMap(({ type, data }) =>
    type === "tool.output" || type === "tool.error" ? [data.callId] : [],
  );
  expect(results.toSorted()).toEqual(listCalls(log).toSorted());
  const resultIds = (await agent.messages()).flatMap(({ toolResult }) => toolResult?.callId ?? []);
  expect(resultIds).toEqual(listCalls(log));
  const turns = new Set(
    log.flatMap(({ type, data }) => (type === "request.accepted" && !data.joined ? [data.runId] : [])),
  );
  expect(log.filter(({ type }) => turnEndTypes.includes(type))).toHaveLength(turns.size);
}

async function expectEnd(agent: TestAgent, runId: string, result: string): Promise<void> {
  expect(await agent.waitForEnd(runId)).toMatchObject({ type: "agent.completed", data: { result } });
  await expectOneResultEach(agent);
}

test.each(["ask one", "ask alone", "ask locally"])(
  "a deferred tool call pauses the turn until its result is reported (%s)",
  async (message) => {
    const { agent, runId, calls } = await startPausedTurn(message);
    expect(await agent.run()).toMatchObject({ runId, status: "paused", step: 1, reason: "deferred" });
    // No alarm is set, so the agent may sleep.
    await waitUntil("all alarms to be cleared", async () => (await agent.state()).armed === 0);
    expect((await agent.messages()).map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(await agent.report({ callId: calls[0], output: "the answer" })).toMatchObject({
      status: 200,
      body: { runId, status: "running" },
    });
    await expectEnd(agent, runId, "Heard: the answer");
    expect((await testbed.api(`${agent.at}/actions`)).body.actions).toMatchObject([
      { id: calls[0], success: true, action: "report", outputSummary: "the answer" },
    ]);
  },
);

test("a result can be any JSON value and can be reported with the client", async () => {
  const { agent, runId, calls } = await startPausedTurn("ask one");
  const { client } = testbed.host();
  const [callId = ""] = calls;
  expect(await client.agent(agent.name).resolveToolCall(callId, { output: { found: [1, 2], by: null } })).toMatchObject(
    { runId, status: "running" },
  );
  await expectEnd(agent, runId, 'Heard: {"found":[1,2],"by":null}');
  // Reporting again changes nothing.
  expect(await client.agent(agent.name).resolveToolCall(callId, { output: "other" })).toMatchObject({ runId });
  await expect(client.agent(agent.name).resolveToolCall("nobody-asked", { error: "no" })).rejects.toMatchObject({
    code: "not_found",
  });
});

test("the last of several reports resumes the turn, and results are in the order of the calls", async () => {
  const { agent, runId, calls } = await startPausedTurn("ask two");
  expect(await agent.report({ callId: calls[1], output: "second" })).toMatchObject({ body: { status: "paused" } });
  expect(await agent.run()).toMatchObject({ status: "paused" });
  expect(await agent.report({ callId: calls[0], output: "first" })).toMatchObject({ body: { status: "running" } });
  await expectEnd(agent, runId, "first, second");
});

test("a turn can pause more than once", async () => {
  const { agent, runId, calls } = await startPausedTurn("ask twice");
  await agent.report({ callId: calls[0], output: "once" });
  await waitForPause(agent, 2);
  const [, second] = listDeferred(await agent.log());
  await agent.report({ callId: second, output: "twice" });
  await expectEnd(agent, runId, "once, twice");
});

test("the other calls of a step complete before the turn pauses for a deferred one", async () => {
  const { agent, runId, calls } = await startPausedTurn("mix");
  expect(
    (await agent.messages()).flatMap(({ toolResult }) =>
      toolResult ? [[toolResult.name, toolResult.failed ?? false]] : [],
    ),
  ).toEqual([
    ["echo", false],
    ["throws", true],
  ]);
  await agent.report({ callId: calls[0], output: "later" });
  await expectEnd(agent, runId, "at once, later");
});

test("a result reported before the tool returns is used, and the turn does not pause", async () => {
  const { agent, runId, callId } = await startToolCall("ask slowly");
  expect(await agent.report({ callId, output: "quick" })).toMatchObject({ status: 200, body: { status: "running" } });
  await expectEnd(agent, runId, "Heard: quick");
  expect((await agent.log()).some(({ type }) => type === "run.paused")).toBe(false);
});

test("a result reported just as the tool returns never leaves the turn waiting", async () => {
  const { below, seed } = createRandom("reports at any moment");
  const reportOnce = async () => {
    const { agent, runId, callId } = await startToolCall("ask soon");
    await new Promise((resolve) => setTimeout(resolve, 40 + below(100)));
    expect(await agent.report({ callId, output: "just now" })).toMatchObject({ status: 200 });
    await expectEnd(agent, runId, "Heard: just now").catch((error: unknown) => {
      throw new Error(`SEED=${seed}`, { cause: error });
    });
  };
  await Promise.all(Array.from({ length: 8 }, reportOnce));
  if (isLongRun()) await Promise.all(Array.from({ length: 8 }, reportOnce));
});

test("a tool that returns after its result was reported adds no second result", async () => {
  const { agent, runId, callId } = await startToolCall("answer anyway");
  await agent.report({ callId, output: "reported first" });
  await expectEnd(agent, runId, "Heard: reported first");
});

test("repeated and concurrent reports of a call count once", async () => {
  const { agent, runId, calls } = await startPausedTurn("ask one");
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, number) => agent.report({ callId: calls[0], output: `answer ${number}` })),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
  const outcome = await agent.waitForEnd(runId);
  expect((outcome.data as { result: string }).result).toMatch(/^Heard: answer \d$/);
  await expectOneResultEach(agent);
  expect(await agent.report({ callId: calls[0], output: "much later" })).toMatchObject({
    status: 200,
    body: { runId, status: "completed" },
  });
  await expectOneResultEach(agent);
});

test("a call can be reported as failed, and the model reads why", async () => {
  const { agent, runId, calls } = await startPausedTurn("ask one");
  await agent.report({ callId: calls[0], error: "The line is dead." });
  await expectEnd(agent, runId, "Heard: The line is dead.");
  expect((await agent.messages()).find(({ role }) => role === "tool")).toMatchObject({ toolResult: { failed: true } });
});

test("a large result is stored as a blob", async () => {
  const { agent, runId, calls } = await startPausedTurn("ask one");
  await agent.report({ callId: calls[0], output: "y".repeat(60 * 1024) });
  await agent.waitForEnd(runId);
  const { toolResult } = (await agent.messages()).find(({ role }) => role === "tool") ?? {};
  expect((await testbed.api(`${agent.at}/blobs/${toolResult?.blob}`)).body).toBe("y".repeat(60 * 1024));
});

test("a report for an unknown call or with an invalid body is rejected", async () => {
  const { agent, calls } = await startPausedTurn("ask one");
  const other = await testbed.newAgent();
  expect(await agent.report({ callId: "call_nobody_made", output: "x" })).toMatchObject({
    status: 404,
    body: { error: { code: "not_found" } },
  });
  expect(await other.report({ callId: calls[0], output: "x" })).toMatchObject({ status: 404 });
  for (const body of [
    { callId: calls[0] },
    { callId: calls[0], output: "x", error: "y" },
    { output: "x" },
    { callId: calls[0], error: 5 },
  ]) {
    expect(await agent.report(body)).toMatchObject({
      status: 400,
      body: { error: { details: { issues: [expect.anything()] } } },
    });
  }
  expect(await agent.run()).toMatchObject({ status: "paused" });
});

test("a paused turn can be canceled, and later reports are rejected", async () => {
  const { agent, runId, calls } = await startPausedTurn("ask two");
  await agent.report({ callId: calls[0], output: "in time" });
  expect(await agent.cancel()).toEqual({ runId, status: "canceled" });
  expect(await agent.report({ callId: calls[1], output: "too late" })).toMatchObject({
    status: 409,
    body: { error: { code: "conflict", message: "The turn that made this call is over." } },
  });
  // Repeating a report that was in time still succeeds.
  expect(await agent.report({ callId: calls[0], output: "in time" })).toMatchObject({ status: 200 });
  await expectOneResultEach(agent);
  expect(await agent.say("still there?")).toMatchObject({ data: { result: "You said: still there?" } });
});

test("messages to a paused turn: steering joins it, queued ones wait behind it, an interrupt ends it", async () => {
  const { agent, runId, calls } = await startPausedTurn("ask one");
  expect(await agent.invoke({ message: "and mind this", mode: "steer" })).toMatchObject({ runId });
  const queued = await agent.invoke({ message: "queued" });
  expect(queued).toMatchObject({ status: "registered", position: 1 });
  const rejected = await testbed.api(`${agent.at}/invoke`, "POST", { message: "x", mode: "steer", props: {} });
  expect(rejected).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining("cannot have props") } },
  });
  await agent.report({ callId: calls[0], output: "the answer" });
  await agent.waitForEnd(queued.runId);
  expect((await agent.messages()).map(({ content }) => content)).toEqual([
    "ask one",
    "",
    "the answer",
    "and mind this",
    "You said: and mind this",
    "queued",
    "You said: queued",
  ]);
  await expectOneResultEach(agent);

  const second = await startPausedTurn("ask one");
  const urgent = await second.agent.invoke({ message: "urgent", mode: "interrupt" });
  expect(await second.agent.waitForEnd(urgent.runId)).toMatchObject({ data: { result: "You said: urgent" } });
  expect(await second.agent.waitForEnd(second.runId)).toMatchObject({ type: "run.canceled" });
  await expectOneResultEach(second.agent);
});

test("the history of a paused agent cannot be cleared", async () => {
  const { agent, runId, calls } = await startPausedTurn("ask one");
  expect((await testbed.api(`${agent.at}/messages`, "DELETE")).status).toBe(409);
  await agent.report({ callId: calls[0], output: "the answer" });
  await expectEnd(agent, runId, "Heard: the answer");
});

test("/serve waits for the outcome through a pause", async () => {
  const agent = await testbed.newAgent();
  const served = testbed.api("/serve", "POST", { agent: agent.name, message: "ask one" });
  await waitForPause(agent);
  await agent.report({ callId: listDeferred(await agent.log())[0], output: "the answer" });
  expect(await served).toMatchObject({ status: 200, body: { content: "Heard: the answer" } });
});

test("a paused turn survives a kill of main and a restart of the host", async () => {
  const { agent, runId, calls } = await startPausedTurn("ask two");
  await testbed.restartMain();
  expect(await agent.run()).toMatchObject({ runId, status: "paused" });
  await agent.report({ callId: calls[0], output: "first" });
  await testbed.stopHost();
  await testbed.startHost();
  expect(await agent.run()).toMatchObject({ runId, status: "paused" });
  await agent.report({ callId: calls[1], output: "second" });
  await expectEnd(agent, runId, "first, second");
  expect((await agent.log()).filter(({ type }) => type === "run.resumed")).toMatchObject([
    { data: { reason: "resolved", crashes: 0 } },
  ]);
});

test("an acknowledged report is not lost, whenever main is killed after it", async () => {
  const { below, seed } = createRandom("kills after a report");
  for (let round = 0; round < getRepeatCount("kills", { sample: 3, full: 6 }); round++) {
    const { agent, runId, calls } = await startPausedTurn("ask one");
    expect(await agent.report({ callId: calls[0], output: "the answer" })).toMatchObject({ status: 200 });
    await new Promise((resolve) => setTimeout(resolve, below(20)));
    await testbed.restartMain();
    await expectEnd(agent, runId, "Heard: the answer").catch((error: unknown) => {
      throw new Error(`round ${round}, SEED=${seed}`, { cause: error });
    });
  }
});

/** What the first witness middleware recorded about reports and resumes. */
async function readWitnessed(agent: TestAgent): Promise<string[]> {
  return (await agent.log()).flatMap(({ type, data }) =>
    type === "middleware.state_changed" &&
    data.middlewareName === "first" &&
    /^on(Resume|ChildReport)/.test(String(data.value))
      ? [String(data.value)]
      : [],
  );
}

test("middleware receives every report once when the turn resumes, including those from before a kill", async () => {
  const { agent, runId, calls } = await startPausedTurn("ask two", "watched");
  await agent.report({ callId: calls[1], error: "no" });
  await testbed.restartMain();
  expect(await readWitnessed(agent)).toEqual([]);
  await agent.report({ callId: calls[0], output: "yes" });
  await agent.waitForEnd(runId);
  expect(await readWitnessed(agent)).toEqual([
    "onChildReport later failed: no",
    "onChildReport later yes",
    "onResume resolved 2",
  ]);
});

test("middleware also receives a result reported before the tool returned", async () => {
  const { agent, runId, callId } = await startToolCall("ask slowly", "watched");
  await agent.report({ callId, output: "quick" });
  await agent.waitForEnd(runId);
  expect(await readWitnessed(agent)).toEqual(["onChildReport later_slowly quick"]);
});
