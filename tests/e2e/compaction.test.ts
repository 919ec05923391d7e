import type { AgentEvent, AgentStatus, ServerFrame } from "@thinkery/sdk";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import {
  expectPairedResults,
  createLongHistory,
  isSummary,
  contextLimitTokens,
  type CompactionTestbed,
  getEventData,
  openCompactionTestbed,
  getRequestMessages,
  answerAsUsual,
  wires,
  fillerText,
} from "../kit/compaction-testbed.ts";
import type { ModelServer } from "../kit/model-server.ts";
import { countRequestTokens } from "../kit/model-server/limit.ts";
import type { Testbed, TestAgent } from "../kit/worker/testbed.ts";

// Conversations longer than their model's context, against a server that counts tokens and rejects what does not fit.

let compactionTestbed: CompactionTestbed;
let server: ModelServer;
let testbed: Testbed;

beforeAll(async () => {
  compactionTestbed = await openCompactionTestbed();
  ({ server, testbed } = compactionTestbed);
});

beforeEach(() => compactionTestbed.reset());

afterAll(() => compactionTestbed?.stop());

async function sendLongHistory(agent: TestAgent): Promise<AgentEvent> {
  const messages = createLongHistory();
  for (let from = 0; from < 390; from += 195) {
    const { runId } = await agent.invoke({
      messages: [...messages.slice(from, from + 195), { role: "user", content: "Just remember this." }],
    });
    const end = await agent.waitForEnd(runId, 60_000);
    if (end.type !== "agent.completed") return end;
  }
  const { runId } = await agent.invoke({
    messages: [...messages.slice(390), { role: "user", content: "What is the code word? Answer in one word." }],
  });
  return agent.waitForEnd(runId, 60_000);
}

/** Reads the status that a client receives when it connects. */
async function readStatus(agent: TestAgent): Promise<AgentStatus> {
  const { url, token } = testbed.host();
  const socket = new WebSocket(`${url.replace("http", "ws")}${agent.at}/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  try {
    return await new Promise((resolve, reject) => {
      socket.once("error", reject);
      socket.on("message", (data) => {
        const frame = JSON.parse(String(data)) as ServerFrame;
        if (frame.type === "sync") resolve(frame.state);
      });
    });
  } finally {
    socket.terminate();
  }
}

test.each(Object.entries(wires))(
  "400 messages for a model with a known limit: the turn completes and no request is rejected (%s)",
  async (_, provider) => {
    const agent = await testbed.newAgent({ model: `${provider}:known` });
    const before = server.countCalls();
    expect(await sendLongHistory(agent)).toMatchObject({ type: "agent.completed", data: { result: "Understood." } });
    const { calls, summaries, refused } = compactionTestbed.requestsSince(before);
    expect(refused).toEqual([]);
    expect(calls).toHaveLength(3);
    // The conversation gets too long up to three times, and each time it is summarized page by page.
    const log = await agent.log();
    const compactions = getEventData(log, "context.compacted");
    expect(compactions.length).toBeGreaterThanOrEqual(2);
    expect(compactions.length).toBeLessThanOrEqual(3);
    expect(summaries.length).toBe(getEventData(log, "model.generated").length);
    expect(summaries.length).toBeLessThanOrEqual(compactions.length * 12);
    for (const request of calls) expectPairedResults(request);
    for (const { before: size, after } of compactions) {
      expect(size).toBeGreaterThan(0.8 * contextLimitTokens);
      expect(after).toBeLessThan(0.8 * contextLimitTokens);
    }
    // The first message is in the summary, the last one is verbatim, and old ones are gone.
    const last = calls.at(-1)?.raw ?? "";
    expect(last).toContain("the code word is kumquat");
    expect(last).toContain("What is the code word? Answer in one word.");
    expect(last).not.toContain("Message 17.");
    // All messages can still be read.
    const messages = await agent.messages();
    expect(messages).toHaveLength(400 + 3 + 3);
    expect(messages.map(({ content }) => content)).toEqual(
      expect.arrayContaining(createLongHistory().map(({ content }) => content)),
    );
  },
);

test.each(Object.entries(wires))(
  "400 messages for a model with an unknown limit: rejected once per turn, then compacted to fit (%s)",
  async (_, provider) => {
    const agent = await testbed.newAgent({ model: `${provider}:unknown` });
    const before = server.countCalls();
    expect(await sendLongHistory(agent)).toMatchObject({ type: "agent.completed" });
    const { calls, summaries, refused } = compactionTestbed.requestsSince(before);
    const log = await agent.log();
    const compactions = getEventData(log, "context.compacted");
    expect(calls).toHaveLength(3);
    expect(refused.length).toBe(compactions.length);
    expect(compactions.length).toBeGreaterThanOrEqual(2);
    expect(compactions.length).toBeLessThanOrEqual(3);
    expect(summaries.length).toBe(getEventData(log, "model.generated").length);
    expect(getEventData(log, "model.failed").map(({ kind, retryInMs }) => [kind, retryInMs])).toEqual(
      compactions.map(() => ["overflow", 0]),
    );
    for (const request of calls) expectPairedResults(request);
  },
);

test("a conversation of 400 messages, turn by turn, is never rejected and rarely compacted", async () => {
  const agent = await testbed.newAgent({ model: "local:known" });
  const before = server.countCalls();
  const turns = 200;
  for (let turn = 0; turn < turns; turn++) {
    const message = turn === 0 ? "The code word is kumquat." : `Turn ${turn}. ${fillerText.repeat(5)}`;
    expect(await testbed.host().client.call("serve", { body: { agent: agent.name, message } })).toMatchObject({
      content: "Understood.",
    });
  }
  const { calls, refused, summaries } = compactionTestbed.requestsSince(before);
  expect([calls.length, refused.length]).toEqual([turns, 0]);
  const log = await agent.log();
  const compactions = getEventData(log, "context.compacted");
  expect(compactions.length).toBeGreaterThan(1);
  // Each compaction makes room for many turns.
  expect(compactions.length).toBeLessThan(turns / 20);
  expect(summaries.length).toBeLessThanOrEqual(compactions.length * 3);
  const runs = compactions.map(({ runId }) => runId);
  expect(new Set(runs).size).toBe(runs.length);
  const cuts = compactions.map(({ upTo = 0 }) => upTo);
  expect(cuts).toEqual([...cuts].sort((a, b) => a - b));
  expect(calls.at(-1)?.raw).toContain("the code word is kumquat");
  expect((await agent.messages()).length).toBe(2 * turns);
  // The context meter shows the provider's own counts, in every call and in the status.
  const meter = getEventData(log, "model.completed").map(({ context }) => context);
  expect(meter.map((context) => context?.used)).toEqual(
    getEventData(log, "model.completed").map(({ usage }) => usage.inputTokens + usage.outputTokens),
  );
  expect(new Set(meter.map((context) => `${context?.model} ${context?.limit}`))).toEqual(
    new Set([`local:known ${contextLimitTokens}`]),
  );
  expect((await testbed.api(`${agent.at}/state`)).body.state.context).toEqual(meter.at(-1));
  expect(await readStatus(agent)).toMatchObject({ status: "idle", context: meter.at(-1) });
  // Between two compactions, each request starts with the whole previous one.
  const all = calls.map(getRequestMessages);
  const rewritten = all
    .slice(1)
    .filter((messages, index) => messages.slice(0, all[index]?.length).join() !== all[index]?.join());
  expect(rewritten).toHaveLength(compactions.length);
}, 120_000);

test("tool results are truncated first, without a summary", async () => {
  const agent = await testbed.newAgent({ model: "local:known" });
  server.answer((request) => {
    const done = request.raw.split('"role":"tool"').length - 1;
    // Alternating inputs, because a model that repeats itself is stopped.
    return done < 12 ? { toolCalls: [{ name: "kb", input: { kb: 4 + (done % 2) } }] } : { text: "Done." };
  });
  const before = server.countCalls();
  expect(await agent.say("Look twelve times.")).toMatchObject({ type: "agent.completed" });
  const { summaries, refused, calls } = compactionTestbed.requestsSince(before);
  expect([summaries.length, refused.length]).toEqual([0, 0]);
  const compactions = getEventData(await agent.log(), "context.compacted");
  expect(compactions.length).toBeGreaterThan(0);
  for (const compaction of compactions) expect(compaction).not.toHaveProperty("summary");
  const positions = compactions.map(({ shortened }) => shortened);
  expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
  expect(calls.at(-1)?.raw).toMatch(/\[truncated; \d+ characters in total\]/);
  for (const request of calls) expectPairedResults(request);
  const results = (await agent.messages()).filter(({ role }) => role === "tool");
  for (const { content } of results) expect(content).not.toContain("[truncated");
});

test("estimates are used if the provider does not report token counts", async () => {
  const agent = await testbed.newAgent({ model: "local:known" });
  server.answer((request) => ({ ...answerAsUsual(request), usage: { input: 0, output: 0 } }));
  const before = server.countCalls();
  for (let turn = 0; turn < 40; turn++)
    expect(await agent.say(`Turn ${turn}. ${fillerText.repeat(15)}`)).toMatchObject({ type: "agent.completed" });
  expect(compactionTestbed.requestsSince(before).refused).toEqual([]);
  const log = await agent.log();
  expect(getEventData(log, "context.compacted").length).toBeGreaterThan(0);
  for (const { context } of getEventData(log, "model.completed")) expect(context?.used).toBeGreaterThan(100);
});

test("text with an unusual token density is rejected once, then measured by the provider's counts", async () => {
  const agent = await testbed.newAgent({ model: "local:known" });
  // Every character is a token, more than three times the estimate.
  const createDenseText = (n: number) => `Turn ${n}. ${"!?%&".repeat(100)}`;
  const messages = Array.from({ length: 40 }, (_, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: createDenseText(n),
  }));
  const before = server.countCalls();
  const { runId } = await agent.invoke({ messages: [...messages, { role: "user", content: "Remember." }] });
  expect(await agent.waitForEnd(runId)).toMatchObject({ type: "agent.completed" });
  expect(compactionTestbed.requestsSince(before).refused.filter((request) => !isSummary(request))).toHaveLength(1);
  for (let turn = 0; turn < 40; turn++)
    expect(await agent.say(createDenseText(turn))).toMatchObject({ type: "agent.completed" });
  expect(compactionTestbed.requestsSince(before).refused.filter((request) => !isSummary(request))).toHaveLength(1);
  const compactions = getEventData(await agent.log(), "context.compacted");
  expect(compactions.length).toBeGreaterThan(2);
  expect(compactions.length).toBeLessThan(10);
});

test("a message that is too large by itself is truncated in the middle", async () => {
  const agent = await testbed.newAgent({ model: "local:known" });
  const before = server.countCalls();
  expect(await agent.say(`BEGIN ${fillerText.repeat(600)} END`)).toMatchObject({ type: "agent.completed" });
  const { calls, summaries, refused } = compactionTestbed.requestsSince(before);
  // There are no older messages to summarize.
  expect([calls.length, summaries.length, refused.length]).toEqual([1, 0, 0]);
  expect(calls[0]?.raw).toMatch(/verbatim:.*BEGIN All.*\d+ characters in total; the middle is omitted.* END/s);
});

test("a long turn keeps its request verbatim, however often it is compacted", async () => {
  const agent = await testbed.newAgent({ model: "local:known" });
  let step = 0;
  server.answer((request) => {
    if (isSummary(request)) return { text: "Summary: some looking was done." };
    step++;
    return step <= 30
      ? {
          text: `Step ${step}. ${fillerText.repeat(8)}`,
          toolCalls: [{ name: "echo", input: { text: `${step} ${fillerText.repeat(8)}` } }],
        }
      : { text: "Done." };
  });
  const before = server.countCalls();
  const request = "Look thirty times, and mind the ostrich on the way.";
  expect(await agent.say(request)).toMatchObject({ type: "agent.completed" });
  const { calls, refused } = compactionTestbed.requestsSince(before);
  const compactions = getEventData(await agent.log(), "context.compacted");
  expect(refused).toEqual([]);
  expect(calls).toHaveLength(31);
  expect(compactions.length).toBeGreaterThan(2);
  for (const call of calls) {
    expectPairedResults(call);
    expect(call.raw.split(request).length - 1).toBe(1);
    expect(countRequestTokens(call.body)).toBeLessThanOrEqual(contextLimitTokens);
  }
});
