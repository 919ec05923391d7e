import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { isSummary, limit, longAgent, type LongTalk, more, of, openLongTalk, told, usual } from "../kit/long-talk.ts";
import type { ModelServer } from "../kit/model-server.ts";
import { until } from "../kit/until.ts";
import type { Workshop } from "../kit/worker/workshop.ts";

// What can go wrong while a conversation is made shorter.

let talk: LongTalk;
let server: ModelServer;
let workshop: Workshop;

beforeAll(async () => {
  talk = await openLongTalk();
  ({ server, workshop } = talk);
});

beforeEach(() => talk.reset());

afterAll(() => talk?.stop());

test("a crash between the summary and the next call changes nothing: no second summary, the same request", async () => {
  const agent = await longAgent(talk);
  let stalled = 0;
  server.answer((request) => {
    if (isSummary(request)) return usual(request);
    return request.latest.includes("tip over") && ++stalled === 1 ? { text: "Half an ans", fault: { kind: "stall", phase: "text" } } : { text: "Whole." };
  });
  const before = server.calls();
  const { runId } = await agent.invoke({ message: `tip over ${more}` });
  await until("the call after the summary", () => stalled);
  await workshop.killMain();
  expect(await agent.over(runId, 40_000)).toMatchObject({ type: "agent.completed", data: { result: "Whole." } });
  const { calls, summaries, refused } = talk.asked(before);
  expect([calls.length, summaries.length, refused.length]).toEqual([2, of(await agent.log(), "model.consulted").length, 0]);
  expect(calls[1]?.raw).toBe(calls[0]?.raw);
  expect(of(await agent.log(), "context.compacted")).toHaveLength(1);
  // Nor does a host that was stopped and started forget it.
  await workshop.stopHouse();
  await workshop.startHouse();
  expect(await agent.say("Go on.")).toMatchObject({ type: "agent.completed" });
  const last = told(server.requests().at(-1));
  expect(last.slice(0, told(calls[1]).length)).toEqual(told(calls[1]));
});

test("a crash in the middle of the summary: it is made again, and the turn completes", async () => {
  const agent = await longAgent(talk);
  let stalled = 0;
  server.answer((request) => (isSummary(request) && ++stalled === 1 ? { text: "Summ", fault: { kind: "stall", phase: "text" } } : usual(request)));
  const { runId } = await agent.invoke({ message: `tip over ${more}` });
  await until("the summary to be under way", () => stalled);
  await workshop.killMain();
  expect(await agent.over(runId, 40_000)).toMatchObject({ type: "agent.completed" });
  expect(of(await agent.log(), "context.compacted")).toHaveLength(1);
});

test("what cannot be made smaller fails once, with what is too large, and no loop", async () => {
  const agent = await workshop.newAgent({ model: "local:tight" });
  // Less than what every agent is told before the conversation.
  server.limit("tight", 300);
  const before = server.calls();
  const end = await agent.say("Hello.");
  expect(end).toMatchObject({ type: "agent.error", data: { code: "model_overflow", error: expect.stringMatching(/instructions and the tools alone are about \d+ %/), advice: expect.stringContaining("contextTokens") } });
  expect(talk.asked(before).all).toHaveLength(1);
  expect(of(await agent.log(), "context.compacted")).toEqual([]);
});

test("a model that refuses whatever it is told is asked twice, and the turn fails", async () => {
  const agent = await longAgent(talk);
  // From now on nothing fits, whatever is made of it.
  server.limit("known", 10);
  const before = server.calls();
  expect(await agent.say("Still there?")).toMatchObject({ type: "agent.error", data: { code: "model_overflow", advice: expect.any(String) } });
  const { refused, summaries, all } = talk.asked(before);
  expect(refused).toHaveLength(2);
  expect(all).toHaveLength(2 + summaries.length);
  expect(of(await agent.log(), "context.compacted")).toHaveLength(1);
  // In a turn of its own it is tried again, and goes on where it can.
  server.limit("known", limit);
  expect(await agent.say("And now?")).toMatchObject({ type: "agent.completed" });
});

test("a summarizer that fails for good is stood in for by the primary model; where that fails too, the turn says why", async () => {
  const agent = await longAgent(talk);
  server.answer((request) => (request.model === "short" ? { fault: { kind: "status", status: 401, code: "invalid_api_key" } } : usual(request)));
  expect(await agent.say(`tip over ${more}`)).toMatchObject({ type: "agent.completed" });
  expect(of(await agent.log(), "model.consulted").map(({ role, model }) => [role, model])).toContainEqual(["primary", "local:known"]);
  const other = await longAgent(talk);
  server.answer((request) => (isSummary(request) ? { fault: { kind: "status", status: 401, code: "invalid_api_key" } } : usual(request)));
  expect(await other.say(`tip over ${more}`)).toMatchObject({ type: "agent.error", data: { code: "model_auth" } });
  expect(of(await other.log(), "context.compacted")).toEqual([]);
});

test("a summarizer that reads less than was thought is given smaller pages", async () => {
  const agent = await longAgent(talk);
  server.limit("short", 1_200);
  const before = server.calls();
  expect(await agent.say(`tip over ${more}`)).toMatchObject({ type: "agent.completed" });
  const { refused, summaries } = talk.asked(before);
  expect(refused.every(isSummary) && refused.length > 0).toBe(true);
  expect(of(await agent.log(), "model.consulted").every(({ model }) => model === "local:short")).toBe(true);
  expect(summaries.length).toBeLessThan(30);
});

test("a summary under way is canceled with its turn", async () => {
  const agent = await longAgent(talk);
  server.answer((request) => (isSummary(request) ? { text: "Summ", fault: { kind: "stall", phase: "text" } } : usual(request)));
  const [before, calls] = [server.abandoned(), server.calls()];
  const { runId } = await agent.invoke({ message: `tip over ${more}` });
  await until("the summary to be under way", () => talk.asked(calls).summaries.length);
  await agent.cancel();
  expect(await agent.over(runId)).toMatchObject({ type: "run.canceled" });
  await until("the summarizer to be left alone", () => server.abandoned() > before);
});

test("clearing forgets the summary too", async () => {
  const agent = await longAgent(talk);
  await agent.say(`tip over ${more}`);
  expect(of(await agent.log(), "context.compacted")).toHaveLength(1);
  const { status } = await workshop.api(`${agent.at}/messages`, "DELETE");
  expect(status).toBe(204);
  expect(await agent.say("Hello.")).toMatchObject({ type: "agent.completed" });
  expect(server.requests().at(-1)?.raw).not.toContain("kumquat");
});
