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

// Conversations that are longer than their model can read, against a server that counts and refuses.

let talk: CompactionTestbed;
let server: ModelServer;
let workshop: Testbed;

beforeAll(async () => {
  talk = await openCompactionTestbed();
  ({ server, workshop } = talk);
});

beforeEach(() => talk.reset());

afterAll(() => talk?.stop());

async function sendLongHistory(agent: TestAgent): Promise<AgentEvent> {
  const messages = createLongHistory();
  for (let from = 0; from < 390; from += 195) {
    const { runId } = await agent.invoke({
      messages: [...messages.slice(from, from + 195), { role: "user", content: "Just remember this." }],
    });
    const end = await agent.over(runId, 60_000);
    if (end.type !== "agent.completed") return end;
  }
  const { runId } = await agent.invoke({
    messages: [...messages.slice(390), { role: "user", content: "What is the code word? Answer in one word." }],
  });
  return agent.over(runId, 60_000);
}

/** What whoever connects is told first. */
async function readStatus(agent: TestAgent): Promise<AgentStatus> {
  const { url, token } = workshop.house();
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
  "400 messages against a model whose limit is known: the turn completes and nothing is refused (%s)",
  async (_, provider) => {
    const agent = await workshop.newAgent({ model: `${provider}:known` });
    const before = server.countCalls();
    expect(await sendLongHistory(agent)).toMatchObject({ type: "agent.completed", data: { result: "Understood." } });
    const { calls, summaries, refused } = talk.requestsSince(before);
    expect(refused).toEqual([]);
    expect(calls).toHaveLength(3);
    // Three times the conversation is too long; each time it is summarized, page by page.
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
    // What was said first is known from the summary, what was asked last word for word, and what is old not at all.
    const last = calls.at(-1)?.raw ?? "";
    expect(last).toContain("the code word is kumquat");
    expect(last).toContain("What is the code word? Answer in one word.");
    expect(last).not.toContain("Message 17.");
    // All of it can still be read.
    const messages = await agent.messages();
    expect(messages).toHaveLength(400 + 3 + 3);
    expect(messages.map(({ content }) => content)).toEqual(
      expect.arrayContaining(createLongHistory().map(({ content }) => content)),
    );
  },
);

test.each(Object.entries(wires))(
  "400 messages against a model whose limit nobody knows: refused once a turn, then made to fit (%s)",
  async (_, provider) => {
    const agent = await workshop.newAgent({ model: `${provider}:unknown` });
    const before = server.countCalls();
    expect(await sendLongHistory(agent)).toMatchObject({ type: "agent.completed" });
    const { calls, summaries, refused } = talk.requestsSince(before);
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

test("a conversation of 400 messages, turn by turn, is never refused, and compacted only now and then", async () => {
  const agent = await workshop.newAgent({ model: "local:known" });
  const before = server.countCalls();
  const turns = 200;
  for (let turn = 0; turn < turns; turn++) {
    const message = turn === 0 ? "The code word is kumquat." : `Turn ${turn}. ${fillerText.repeat(5)}`;
    expect(await workshop.house().client.call("serve", { body: { agent: agent.name, message } })).toMatchObject({
      content: "Understood.",
    });
  }
  const { calls, refused, summaries } = talk.requestsSince(before);
  expect([calls.length, refused.length]).toEqual([turns, 0]);
  const log = await agent.log();
  const compactions = getEventData(log, "context.compacted");
  expect(compactions.length).toBeGreaterThan(1);
  // Each one makes room for many turns.
  expect(compactions.length).toBeLessThan(turns / 20);
  expect(summaries.length).toBeLessThanOrEqual(compactions.length * 3);
  const runs = compactions.map(({ runId }) => runId);
  expect(new Set(runs).size).toBe(runs.length);
  const cuts = compactions.map(({ upTo = 0 }) => upTo);
  expect(cuts).toEqual([...cuts].sort((a, b) => a - b));
  expect(calls.at(-1)?.raw).toContain("the code word is kumquat");
  expect((await agent.messages()).length).toBe(2 * turns);
  // The meter tells the provider's own counts, in every call and at a glance.
  const meter = getEventData(log, "model.completed").map(({ context }) => context);
  expect(meter.map((context) => context?.used)).toEqual(
    getEventData(log, "model.completed").map(({ usage }) => usage.inputTokens + usage.outputTokens),
  );
  expect(new Set(meter.map((context) => `${context?.model} ${context?.limit}`))).toEqual(
    new Set([`local:known ${contextLimitTokens}`]),
  );
  expect((await workshop.api(`${agent.at}/state`)).body.state.context).toEqual(meter.at(-1));
  expect(await readStatus(agent)).toMatchObject({ status: "idle", context: meter.at(-1) });
  // Between two compactions each request begins with all of the one before it.
  const all = calls.map(getRequestMessages);
  const anew = all
    .slice(1)
    .filter((messages, index) => messages.slice(0, all[index]?.length).join() !== all[index]?.join());
  expect(anew).toHaveLength(compactions.length);
}, 120_000);

test("tool results are shortened first, and nobody is asked for a summary", async () => {
  const agent = await workshop.newAgent({ model: "local:known" });
  server.answer((request) => {
    const done = request.raw.split('"role":"tool"').length - 1;
    // Not the same twice: a model that repeats itself is stopped.
    return done < 12 ? { toolCalls: [{ name: "kb", input: { kb: 4 + (done % 2) } }] } : { text: "Done." };
  });
  const before = server.countCalls();
  expect(await agent.say("Look twelve times.")).toMatchObject({ type: "agent.completed" });
  const { summaries, refused, calls } = talk.requestsSince(before);
  expect([summaries.length, refused.length]).toEqual([0, 0]);
  const compactions = getEventData(await agent.log(), "context.compacted");
  expect(compactions.length).toBeGreaterThan(0);
  for (const compaction of compactions) expect(compaction).not.toHaveProperty("summary");
  const places = compactions.map(({ shortened }) => shortened);
  expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
  expect(calls.at(-1)?.raw).toMatch(/\[shortened; \d+ characters in all\]/);
  for (const request of calls) expectPairedResults(request);
  const results = (await agent.messages()).filter(({ role }) => role === "tool");
  for (const { content } of results) expect(content).not.toContain("[shortened");
});

test("a provider that counts nothing is not needed for it: estimates will do", async () => {
  const agent = await workshop.newAgent({ model: "local:known" });
  server.answer((request) => ({ ...answerAsUsual(request), usage: { input: 0, output: 0 } }));
  const before = server.countCalls();
  for (let turn = 0; turn < 40; turn++)
    expect(await agent.say(`Turn ${turn}. ${fillerText.repeat(15)}`)).toMatchObject({ type: "agent.completed" });
  expect(talk.requestsSince(before).refused).toEqual([]);
  const log = await agent.log();
  expect(getEventData(log, "context.compacted").length).toBeGreaterThan(0);
  for (const { context } of getEventData(log, "model.completed")) expect(context?.used).toBeGreaterThan(100);
});

test("a text of which we know nothing is learnt from: refused once, and then measured by what the provider counts", async () => {
  const agent = await workshop.newAgent({ model: "local:known" });
  // Every sign is a token, more than three times what we would think.
  const signs = (n: number) => `Turn ${n}. ${"!?%&".repeat(100)}`;
  const messages = Array.from({ length: 40 }, (_, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: signs(n),
  }));
  const before = server.countCalls();
  const { runId } = await agent.invoke({ messages: [...messages, { role: "user", content: "Remember." }] });
  expect(await agent.over(runId)).toMatchObject({ type: "agent.completed" });
  expect(talk.requestsSince(before).refused.filter((request) => !isSummary(request))).toHaveLength(1);
  for (let turn = 0; turn < 40; turn++) expect(await agent.say(signs(turn))).toMatchObject({ type: "agent.completed" });
  expect(talk.requestsSince(before).refused.filter((request) => !isSummary(request))).toHaveLength(1);
  const compactions = getEventData(await agent.log(), "context.compacted");
  expect(compactions.length).toBeGreaterThan(2);
  expect(compactions.length).toBeLessThan(10);
});

test("a request that is too large by itself is cut down, and both its ends are told", async () => {
  const agent = await workshop.newAgent({ model: "local:known" });
  const before = server.countCalls();
  expect(await agent.say(`BEGIN ${fillerText.repeat(600)} END`)).toMatchObject({ type: "agent.completed" });
  const { calls, summaries, refused } = talk.requestsSince(before);
  // There is nothing older to summarize.
  expect([calls.length, summaries.length, refused.length]).toEqual([1, 0, 0]);
  expect(calls[0]?.raw).toMatch(/word for word:.*BEGIN All.*\d+ characters in all; the middle is left out.* END/s);
});

test("a long turn keeps its request word for word, however often it is compacted", async () => {
  const agent = await workshop.newAgent({ model: "local:known" });
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
  const { calls, refused } = talk.requestsSince(before);
  const compactions = getEventData(await agent.log(), "context.compacted");
  expect(refused).toEqual([]);
  expect(calls).toHaveLength(31);
  expect(compactions.length).toBeGreaterThan(2);
  for (const one of calls) {
    expectPairedResults(one);
    expect(one.raw.split(request).length - 1).toBe(1);
    expect(countRequestTokens(one.body)).toBeLessThanOrEqual(contextLimitTokens);
  }
});
