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

// What can go wrong while a conversation is made shorter.

let talk: CompactionTestbed;
let server: ModelServer;
let workshop: Testbed;

beforeAll(async () => {
  talk = await openCompactionTestbed();
  ({ server, workshop } = talk);
});

beforeEach(() => talk.reset());

afterAll(() => talk?.stop());

test("a crash between the summary and the next call changes nothing: no second summary, the same request", async () => {
  const agent = await createLongAgent(talk);
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
  await workshop.killMain();
  expect(await agent.over(runId, 40_000)).toMatchObject({ type: "agent.completed", data: { result: "Whole." } });
  const { calls, summaries, refused } = talk.requestsSince(before);
  expect([calls.length, summaries.length, refused.length]).toEqual([
    2,
    getEventData(await agent.log(), "model.generated").length,
    0,
  ]);
  expect(calls[1]?.raw).toBe(calls[0]?.raw);
  expect(getEventData(await agent.log(), "context.compacted")).toHaveLength(1);
  // Nor does a host that was stopped and started forget it.
  await workshop.stopHouse();
  await workshop.startHouse();
  expect(await agent.say("Go on.")).toMatchObject({ type: "agent.completed" });
  const last = getRequestMessages(server.listRequests().at(-1));
  expect(last.slice(0, getRequestMessages(calls[1]).length)).toEqual(getRequestMessages(calls[1]));
});

test("a crash in the middle of the summary: it is made again, and the turn completes", async () => {
  const agent = await createLongAgent(talk);
  let stalled = 0;
  server.answer((request) =>
    isSummary(request) && ++stalled === 1
      ? { text: "Summ", fault: { kind: "stall", phase: "text" } }
      : answerAsUsual(request),
  );
  const { runId } = await agent.invoke({ message: `tip over ${overflowText}` });
  await waitUntil("the summary to be under way", () => stalled);
  await workshop.killMain();
  expect(await agent.over(runId, 40_000)).toMatchObject({ type: "agent.completed" });
  expect(getEventData(await agent.log(), "context.compacted")).toHaveLength(1);
});

test("what cannot be made smaller fails once, with what is too large, and no loop", async () => {
  const agent = await workshop.newAgent({ model: "local:tight" });
  // Less than what every agent is told before the conversation.
  server.setLimit("tight", 300);
  const before = server.countCalls();
  const end = await agent.say("Hello.");
  expect(end).toMatchObject({
    type: "agent.error",
    data: {
      code: "model_overflow",
      error: expect.stringMatching(/instructions and the tools alone are about \d+ %/),
      advice: expect.stringContaining("contextTokens"),
    },
  });
  expect(talk.requestsSince(before).all).toHaveLength(1);
  expect(getEventData(await agent.log(), "context.compacted")).toEqual([]);
});

test("a model that refuses whatever it is told is asked twice, and the turn fails", async () => {
  const agent = await createLongAgent(talk);
  // From now on nothing fits, whatever is made of it.
  server.setLimit("known", 10);
  const before = server.countCalls();
  expect(await agent.say("Still there?")).toMatchObject({
    type: "agent.error",
    data: { code: "model_overflow", advice: expect.any(String) },
  });
  const { refused, summaries, all } = talk.requestsSince(before);
  expect(refused).toHaveLength(2);
  expect(all).toHaveLength(2 + summaries.length);
  expect(getEventData(await agent.log(), "context.compacted")).toHaveLength(1);
  // In a turn of its own it is tried again, and goes on where it can.
  server.setLimit("known", contextLimitTokens);
  expect(await agent.say("And now?")).toMatchObject({ type: "agent.completed" });
});

test("a summarizer that fails for good is stood in for by the primary model; where that fails too, the turn says why", async () => {
  const agent = await createLongAgent(talk);
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
  const other = await createLongAgent(talk);
  server.answer((request) =>
    isSummary(request) ? { fault: { kind: "status", status: 401, code: "invalid_api_key" } } : answerAsUsual(request),
  );
  expect(await other.say(`tip over ${overflowText}`)).toMatchObject({
    type: "agent.error",
    data: { code: "model_auth" },
  });
  expect(getEventData(await other.log(), "context.compacted")).toEqual([]);
});

test("a summarizer that reads less than was thought is given smaller pages", async () => {
  const agent = await createLongAgent(talk);
  server.setLimit("short", 1_200);
  const before = server.countCalls();
  expect(await agent.say(`tip over ${overflowText}`)).toMatchObject({ type: "agent.completed" });
  const { refused, summaries } = talk.requestsSince(before);
  expect(refused.every(isSummary) && refused.length > 0).toBe(true);
  expect(getEventData(await agent.log(), "model.generated").every(({ model }) => model === "local:short")).toBe(true);
  expect(summaries.length).toBeLessThan(30);
});

test("a summary under way is canceled with its turn", async () => {
  const agent = await createLongAgent(talk);
  server.answer((request) =>
    isSummary(request) ? { text: "Summ", fault: { kind: "stall", phase: "text" } } : answerAsUsual(request),
  );
  const [before, calls] = [server.countAbandoned(), server.countCalls()];
  const { runId } = await agent.invoke({ message: `tip over ${overflowText}` });
  await waitUntil("the summary to be under way", () => talk.requestsSince(calls).summaries.length);
  await agent.cancel();
  expect(await agent.over(runId)).toMatchObject({ type: "run.canceled" });
  await waitUntil("the summarizer to be left alone", () => server.countAbandoned() > before);
});

test("clearing forgets the summary too", async () => {
  const agent = await createLongAgent(talk);
  await agent.say(`tip over ${overflowText}`);
  expect(getEventData(await agent.log(), "context.compacted")).toHaveLength(1);
  const { status } = await workshop.api(`${agent.at}/messages`, "DELETE");
  expect(status).toBe(204);
  expect(await agent.say("Hello.")).toMatchObject({ type: "agent.completed" });
  expect(server.listRequests().at(-1)?.raw).not.toContain("kumquat");
});
