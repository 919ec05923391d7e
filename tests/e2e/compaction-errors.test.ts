import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  isSummary,
  contextLimitTokens,
  createLongAgent,
  type CompactionTestbed,
  overflowText,
  getEventData,
  openCompactionTestbed,
  getRequestMessages,
  answerAsUsual,
} from "../kit/compaction-testbed.ts";
import type { ModelServer } from "../kit/model-server.ts";
import { waitUntil } from "../kit/wait-until.ts";
import type { Testbed } from "../kit/worker/testbed.ts";

// Failures during compaction.

let compactionTestbed: CompactionTestbed;
let server: ModelServer;
let testbed: Testbed;

beforeAll(async () => {
  compactionTestbed = await openCompactionTestbed();
  ({ server, testbed } = compactionTestbed);
});

beforeEach(() => compactionTestbed.reset());

afterAll(() => compactionTestbed?.stop());

test("after a crash between the summary and the next call, the summary is reused and the request is the same", async () => {
  const agent = await createLongAgent(compactionTestbed);
  let stalled = 0;
  server.answer((request) => {
    if (isSummary(request)) return answerAsUsual(request);
    return request.latest.includes("tip over") && ++stalled === 1
      ? { text: "Half an ans", fault: { kind: "stall", phase: "text" } }
      : { text: "Whole." };
  });
  const before = server.countCalls();
  const { runId } = await agent.invoke({ message: `tip over ${overflowText}` });
  await waitUntil("the call after the summary", () => stalled);
  await testbed.killMain();
  expect(await agent.waitForEnd(runId, 40_000)).toMatchObject({ type: "agent.completed", data: { result: "Whole." } });
  const { calls, summaries, refused } = compactionTestbed.requestsSince(before);
  expect([calls.length, summaries.length, refused.length]).toEqual([
    2,
    getEventData(await agent.log(), "model.generated").length,
    0,
  ]);
  expect(calls[1]?.raw).toBe(calls[0]?.raw);
  expect(getEventData(await agent.log(), "context.compacted")).toHaveLength(1);
  // The summary also survives a restart of the host.
  await testbed.stopHost();
  await testbed.startHost();
  expect(await agent.say("Go on.")).toMatchObject({ type: "agent.completed" });
  const last = getRequestMessages(server.listRequests().at(-1));
  expect(last.slice(0, getRequestMessages(calls[1]).length)).toEqual(getRequestMessages(calls[1]));
});

test("after a crash during the summary, it is generated again and the turn completes", async () => {
  const agent = await createLongAgent(compactionTestbed);
  let stalled = 0;
  server.answer((request) =>
    isSummary(request) && ++stalled === 1
      ? { text: "Summ", fault: { kind: "stall", phase: "text" } }
      : answerAsUsual(request),
  );
  const { runId } = await agent.invoke({ message: `tip over ${overflowText}` });
  await waitUntil("the summary to start", () => stalled);
  await testbed.killMain();
  expect(await agent.waitForEnd(runId, 40_000)).toMatchObject({ type: "agent.completed" });
  expect(getEventData(await agent.log(), "context.compacted")).toHaveLength(1);
});

test("a request that cannot be compacted fails once, without a loop, and says what is too large", async () => {
  const agent = await testbed.newAgent({ model: "local:tight" });
  // Less than the instructions and tools of any agent.
  server.setLimit("tight", 300);
  const before = server.countCalls();
  const end = await agent.say("Hello.");
  expect(end).toMatchObject({
    type: "agent.error",
    data: {
      code: "model_overflow",
      error: expect.stringMatching(/Instructions and tools alone take about \d+%/),
      advice: expect.stringContaining("contextTokens"),
    },
  });
  expect(compactionTestbed.requestsSince(before).all).toHaveLength(1);
  expect(getEventData(await agent.log(), "context.compacted")).toEqual([]);
});

test("if the model rejects the compacted request too, the turn fails after two attempts", async () => {
  const agent = await createLongAgent(compactionTestbed);
  // From now on nothing fits, however much it is compacted.
  server.setLimit("known", 10);
  const before = server.countCalls();
  expect(await agent.say("Still there?")).toMatchObject({
    type: "agent.error",
    data: { code: "model_overflow", advice: expect.any(String) },
  });
  const { refused, summaries, all } = compactionTestbed.requestsSince(before);
  expect(refused).toHaveLength(2);
  expect(all).toHaveLength(2 + summaries.length);
  expect(getEventData(await agent.log(), "context.compacted")).toHaveLength(1);
  // The next turn tries again, and completes if it can.
  server.setLimit("known", contextLimitTokens);
  expect(await agent.say("And now?")).toMatchObject({ type: "agent.completed" });
});

test("the primary model replaces a summarizer that fails permanently; if that fails too, the turn says why", async () => {
  const agent = await createLongAgent(compactionTestbed);
  server.answer((request) =>
    request.model === "short"
      ? { fault: { kind: "status", status: 401, code: "invalid_api_key" } }
      : answerAsUsual(request),
  );
  expect(await agent.say(`tip over ${overflowText}`)).toMatchObject({ type: "agent.completed" });
  expect(getEventData(await agent.log(), "model.generated").map(({ role, model }) => [role, model])).toContainEqual([
    "primary",
    "local:known",
  ]);
  const other = await createLongAgent(compactionTestbed);
  server.answer((request) =>
    isSummary(request) ? { fault: { kind: "status", status: 401, code: "invalid_api_key" } } : answerAsUsual(request),
  );
  expect(await other.say(`tip over ${overflowText}`)).toMatchObject({
    type: "agent.error",
    data: { code: "model_auth" },
  });
  expect(getEventData(await other.log(), "context.compacted")).toEqual([]);
});

test("a summarizer with a smaller context than expected gets smaller pages", async () => {
  const agent = await createLongAgent(compactionTestbed);
  server.setLimit("short", 1_200);
  const before = server.countCalls();
  expect(await agent.say(`tip over ${overflowText}`)).toMatchObject({ type: "agent.completed" });
  const { refused, summaries } = compactionTestbed.requestsSince(before);
  expect(refused.every(isSummary) && refused.length > 0).toBe(true);
  expect(getEventData(await agent.log(), "model.generated").every(({ model }) => model === "local:short")).toBe(true);
  expect(summaries.length).toBeLessThan(30);
});

test("canceling a turn cancels its summary in progress", async () => {
  const agent = await createLongAgent(compactionTestbed);
  server.answer((request) =>
    isSummary(request) ? { text: "Summ", fault: { kind: "stall", phase: "text" } } : answerAsUsual(request),
  );
  const [abandonedBefore, callsBefore] = [server.countAbandoned(), server.countCalls()];
  const { runId } = await agent.invoke({ message: `tip over ${overflowText}` });
  await waitUntil("the summary to start", () => compactionTestbed.requestsSince(callsBefore).summaries.length);
  await agent.cancel();
  expect(await agent.waitForEnd(runId)).toMatchObject({ type: "run.canceled" });
  await waitUntil("the summarizer's request to be aborted", () => server.countAbandoned() > abandonedBefore);
});

test("clearing the conversation clears the summary too", async () => {
  const agent = await createLongAgent(compactionTestbed);
  await agent.say(`tip over ${overflowText}`);
  expect(getEventData(await agent.log(), "context.compacted")).toHaveLength(1);
  const { status } = await testbed.api(`${agent.at}/messages`, "DELETE");
  expect(status).toBe(204);
  expect(await agent.say("Hello.")).toMatchObject({ type: "agent.completed" });
  expect(server.listRequests().at(-1)?.raw).not.toContain("kumquat");
});
