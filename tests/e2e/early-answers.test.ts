import type { Approval, Question } from "@thinkery/sdk";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { deliver } from "../kit/deliver.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// Answers that arrive while the turn still runs another call of the same response: nothing is paused yet.

const ask = { tool: "askUser", input: { prompt: "Which?" } };
const ring = { tool: "ring", input: { bell: "BELL", id: "{{ message }}" } };
const pick = (id: string) => ({ tool: "pick", input: { bell: "BELL", id } });
const write = { tool: "writeFile", input: { path: "a.txt", content: "one\n" } };

const exchange = (when: string, ...calls: object[]) => ({
  when,
  steps: [{ calls }, { text: calls.map((_, index) => `{{ results.${index} }}`).join(" | ") }],
});

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    config: { turn: { heartbeatSeconds: 1, maxCrashes: 20, maxAttempts: 20 } },
    scripts: {
      default: [
        exchange("ask", ask, ring),
        exchange("sleep", { tool: "sleepUntil", input: { when: 1 } }, ring),
        exchange("hook", { tool: "waitForWebhook", input: { name: "ci" } }, ring),
        exchange("pick and write", pick("sky"), write),
        exchange("pick one", pick("sky")),
        exchange("pick two", pick("sky"), pick("sea")),
      ],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

/** Lets the bell ring on. */
let release: () => void;

beforeEach(() => {
  const released = new Promise<void>((resolve) => (release = resolve));
  testbed.bell.onRing = () => released;
  testbed.bell.rings.length = 0;
});

const waitForRing = () => waitUntil("the bell", () => testbed.bell.rings.length > 0);
const answer = (agent: TestAgent, body: object) => testbed.api(`${agent.at}/answer`, "POST", body);
const waitForResolved = (agent: TestAgent) =>
  agent.waitForEvent("the end of the wait", ({ type }) => type === "continuation.resolved");

async function startRinging(message: string) {
  const agent = await testbed.newAgent({ model: "scripted:default" });
  const { runId } = await agent.invoke({ message });
  await waitForRing();
  return { agent, runId };
}

async function getResult(agent: TestAgent, runId: string): Promise<string> {
  const end = await agent.waitForEnd(runId);
  return end.type === "agent.completed" ? end.data.result : JSON.stringify(end.data);
}

test("an answer to a question, while another call of the response runs", async () => {
  const { agent, runId } = await startRinging("ask");
  expect((await answer(agent, { value: "left" })).status).toBe(200);
  release();
  expect(await getResult(agent, runId)).toBe("left | rang ask");
});

test("a time that passes, while another call of the response runs", async () => {
  const { agent, runId } = await startRinging("sleep");
  await waitForResolved(agent);
  release();
  expect(await getResult(agent, runId)).toMatch(/^It is now .* \| rang sleep$/);
});

test("a webhook that is called, while another call of the response runs", async () => {
  const agent = await testbed.newAgent({ model: "scripted:default" });
  const { body: hook } = await testbed.api(`${agent.at}/hooks`, "POST", { name: "ci" });
  const { runId } = await agent.invoke({ message: "hook" });
  await waitForRing();
  const { body } = await deliver({ port: testbed.host().port, ...hook, body: '"passed"' });
  expect(JSON.parse(body)).toMatchObject({ status: "resumed", runId });
  release();
  expect(await getResult(agent, runId)).toMatch(/passed[^]* \| rang hook$/);
});

test("an approval, while an answered call of the response runs", async () => {
  const blueprint = await testbed.newBlueprint({
    model: "scripted:default",
    config: { hitl: { tools: ["writeFile"] } },
  });
  const agent = await testbed.newAgent({ blueprint });
  const { runId } = await agent.invoke({ message: "pick and write" });
  const approval = await waitUntil("the approval", async () => {
    const { body } = await testbed.api(`${agent.at}/approvals?status=pending`);
    return (body.approvals as Approval[])[0];
  });
  await waitUntil("the pause", async () => (await agent.run()).status === "paused");
  await answer(agent, { value: "blue" });
  await waitForRing();
  const decided = await testbed.api(`${agent.at}/approve`, "POST", { approvalId: approval.id, approved: true });
  expect(decided.status).toBe(200);
  release();
  expect(await getResult(agent, runId)).toMatch(/^owner: rang sky blue \| Created a\.txt/);
});

test("a second answer, while the first one is used", async () => {
  const agent = await testbed.newAgent({ model: "scripted:default" });
  const { runId } = await agent.invoke({ message: "pick two" });
  await waitUntil("the pause", async () => (await agent.run()).status === "paused");
  const questions = await waitUntil("both questions", async () => {
    const { body } = await testbed.api("/questions");
    const own = (body.questions as Question[]).filter((question) => question.agent === `global~${agent.name}`);
    // They may have been asked in the same millisecond, and are in any order then.
    return own.length === 2 && own.toSorted(({ prompt: one = "" }, { prompt: other = "" }) => (one < other ? 1 : -1));
  });
  await answer(agent, { continuationId: questions[0]?.id, value: "blue" });
  await waitForRing();
  expect((await answer(agent, { continuationId: questions[1]?.id, value: "green" })).status).toBe(400);
  expect((await answer(agent, { continuationId: questions[1]?.id, value: "red" })).status).toBe(200);
  release();
  expect(await getResult(agent, runId)).toBe("owner: rang sky blue | owner: rang sea red");
});

test("a call that got its answer can wait again, and takes nothing but what it waits for now", async () => {
  const agent = await testbed.newAgent({ model: "scripted:default" });
  const { runId } = await agent.invoke({ message: "pick one" });
  const pending = await waitUntil("the question", async () => (await agent.state()).pendingContinuation);
  expect((await agent.report({ callId: pending.callId, output: "forged" })).status).toBe(409);
  await answer(agent, { value: "none" });
  await waitUntil("the second wait", async () => (await agent.run()).reason === "deferred");
  expect((await answer(agent, { value: "red" })).status).toBe(409);
  expect((await agent.report({ callId: pending.callId, output: "from elsewhere" })).status).toBe(200);
  expect(await getResult(agent, runId)).toBe("from elsewhere");
});
