import { afterAll, beforeAll, expect, test } from "vitest";
import { waitUntil } from "../kit/wait-until.ts";
import { task } from "../kit/worker/team.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Turns that wait for an answer of their user, or for a time.

const ask = (prompt: string, schema?: object) => ({
  tool: "askUser",
  input: { prompt, ...(schema ? { schema } : {}) },
});
const sleep = (when: number | string) => ({ tool: "sleepUntil", input: { when } });
const region = { type: "object", properties: { region: { enum: ["eu", "us"] } }, required: ["region"] };
const recursive = { $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" };

const exchange = (when: string, ...calls: object[]) => ({
  when,
  steps: [{ calls }, { text: calls.map((_, index) => `{{ results.${index} }}`).join(" | ") }],
});

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    config: { maxFailuresPerMinute: 1000, turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 } },
    scripts: {
      default: [
        exchange("ask text", ask("Your name?")),
        exchange("ask region", ask("Which region?", region)),
        exchange("ask two", ask("One?"), ask("Two?")),
        exchange("ask recursive", ask("How?", recursive)),
        exchange("sleep 1", sleep(1)),
        exchange("sleep long", sleep(3600)),
        exchange("sleep back", sleep("2020-01-01T00:00:00Z")),
        exchange("sleep never", sleep("tomorrow-ish")),
        exchange("delegate briefly", task("ask text", { timeoutMs: 4000 })),
        exchange("delegate", task("ask text")),
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

const answer = (at: string, body: object) => testbed.api(`${at}/answer`, "POST", body);

async function waitForPending({ at }: { at: string }) {
  return waitUntil("a wait", async () => {
    const { state, run } = (await testbed.api(`${at}/state`)).body;
    return run.status === "paused" ? state.pendingContinuation : undefined;
  });
}

async function start(message: string) {
  const agent = await testbed.newAgent({ model: "scripted:default" });
  const { runId } = await agent.invoke({ message });
  return { agent, runId };
}

async function startWaiting(message: string) {
  const started = await start(message);
  return { ...started, pending: await waitForPending(started.agent) };
}

async function getResult(agent: TestAgent, runId: string): Promise<string> {
  const end = await agent.waitForEnd(runId);
  return end.type === "agent.completed" ? end.data.result : JSON.stringify(end.data);
}

test("a question waits for its answer, over a restart, and the answer is the call's result", async () => {
  const { agent, runId, pending } = await startWaiting("ask text");
  expect(pending).toMatchObject({ id: expect.any(String), kind: "input", prompt: "Your name?", turn: runId });
  expect(await agent.run()).toMatchObject({ status: "paused", reason: "input" });
  await testbed.restartMain();
  expect((await agent.state()).pendingContinuation).toEqual(pending);
  const { status, body } = await answer(agent.at, { continuationId: pending.id, value: "Ada" });
  expect([status, body.runId]).toEqual([200, runId]);
  expect(await getResult(agent, runId)).toBe("Ada");
  expect((await agent.state()).pendingContinuation).toBeUndefined();
  expect((await answer(agent.at, { continuationId: pending.id, value: "Bea" })).status).toBe(404);
});

test("an answer must match its schema; a wrong one is refused and the question stays", async () => {
  const { agent, runId, pending } = await startWaiting("ask region");
  expect(pending.schema).toEqual(region);
  for (const value of [{ region: "mars" }, "eu", null, 5, []]) {
    const { status, body } = await answer(agent.at, { value });
    expect([status, body.error.code, body.error.message]).toEqual([
      400,
      "bad_request",
      expect.stringContaining("value"),
    ]);
  }
  expect((await answer(agent.at, {})).status).toBe(400);
  expect((await agent.state()).pendingContinuation).toEqual(pending);
  await answer(agent.at, { value: { region: "eu" } });
  expect(await getResult(agent, runId)).toBe('{"region":"eu"}');
});

test("several questions are answered one by one, each once", async () => {
  const { agent, runId } = await startWaiting("ask two");
  expect((await answer(agent.at, { value: "x" })).body.error.message).toContain("continuationId");
  const { questions } = (await testbed.api("/questions")).body as {
    questions: { id: string; prompt: string; agent: string }[];
  };
  const own = questions.filter((question) => question.agent === `global~${agent.name}`);
  // The inbox lists questions of the same millisecond in any order.
  expect(own.map(({ prompt }) => prompt).sort()).toEqual(["One?", "Two?"]);
  for (const { id, prompt } of own)
    expect((await answer(agent.at, { continuationId: id, value: prompt })).status).toBe(200);
  expect(await getResult(agent, runId)).toBe("One? | Two?");
});

test("of several answers one wins", async () => {
  const { agent, runId } = await startWaiting("ask text");
  const answers = await Promise.all(["a", "b", "c", "d"].map((value) => answer(agent.at, { value })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  const winner = "abcd"[answers.findIndex(({ status }) => status === 200)];
  expect(await getResult(agent, runId)).toBe(winner);
});

test("canceling the turn clears its question", async () => {
  const { agent, runId } = await startWaiting("ask text");
  await agent.cancel();
  await agent.waitForEnd(runId);
  expect((await agent.state()).pendingContinuation).toBeUndefined();
  expect((await answer(agent.at, { value: "late" })).status).toBe(409);
  await waitUntil("the inbox to forget it", async () => {
    const { questions } = (await testbed.api("/questions")).body;
    return !questions.some((question: { agent: string }) => question.agent === `global~${agent.name}`);
  });
});

test("a schema that cannot be checked, and times that never come, are errors for the model", async () => {
  for (const [message, error] of [
    ["ask recursive", /schema cannot be used/],
    ["sleep back", /not in the future/],
    ["sleep never", /neither a number of seconds nor an ISO date/],
  ] as const) {
    const { agent, runId } = await start(message);
    expect(await getResult(agent, runId)).toMatch(error);
  }
});

test("a pause ends by itself, also if main was killed meanwhile", async () => {
  const { agent, runId, pending } = await startWaiting("sleep 1");
  expect(pending).toMatchObject({ kind: "timer", dueAt: expect.any(String) });
  await testbed.killMain();
  expect(await getResult(agent, runId)).toMatch(/^It is now \d{4}-/);
  expect(Date.parse((await agent.waitForEnd(runId)).ts)).toBeGreaterThanOrEqual(Date.parse(pending.dueAt));
});

test("results from elsewhere and answers do not end a pause", async () => {
  const { agent, pending } = await startWaiting("sleep long");
  expect((await agent.report({ callId: pending.callId, output: "now" })).status).toBe(409);
  const { status, body } = await answer(agent.at, { continuationId: pending.id, value: "now" });
  expect([status, body.error.message]).toEqual([409, expect.stringContaining("timer")]);
  expect(await agent.run()).toMatchObject({ status: "paused", reason: "timer" });
});

test("a sub-agent's question reaches the inbox; its parent shows that it waits, and its time stands still", async () => {
  const { agent, runId } = await start("delegate briefly");
  const question = await waitUntil("the question", async () => {
    const { questions } = (await testbed.api("/questions")).body as { questions: { id: string; agent: string }[] };
    return questions.find((one) => one.agent.startsWith(`global~${agent.name}/`));
  });
  const child = question.agent.split("/")[1];
  const [listed] = (await testbed.api(`${agent.at}/subagents`)).body.subagents;
  const { body: status } = await testbed.api(`${agent.at}/subagents/${listed.taskId}`);
  expect(status.status).toBe("waiting");
  const childAt = `${agent.at}/sub/${child}`;
  // Longer than the time it was given.
  await waitUntil("its time to pass", async () => {
    const { events } = (await testbed.api(`${childAt}/events?limit=1000`)).body;
    const paused = events.find(({ type }: { type: string }) => type === "run.paused");
    return paused && Date.now() - Date.parse(paused.ts) > 4500;
  });
  expect((await answer(childAt, { value: "Ada" })).status).toBe(200);
  expect(await getResult(agent, runId)).toContain("Ada");
});
