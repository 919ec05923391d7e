import type { AgentEvent, EventData } from "@thinkery/sdk";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { tokensOf } from "../kit/model-server/limit.ts";
import { type Answer, type ModelServer, openModelServer, type SeenRequest } from "../kit/model-server.ts";
import { until } from "../kit/until.ts";
import { openWorkshop, type Workshop, type WorkshopAgent } from "../kit/worker/workshop.ts";

// Conversations that are longer than their model can read, against a server that counts and refuses.

const limit = 8_000;
const wires = { chat: "local", responses: "openai", messages: "anthropic" } as const;

let server: ModelServer;
let workshop: Workshop;

beforeAll(async () => {
  server = await openModelServer();
  const base = `${server.url}/v1`;
  const known = Object.values(wires).map((provider) => [`${provider}:known`, limit]);
  workshop = await openWorkshop({
    config: {
      providers: { openai: { base }, anthropic: { base }, local: { base, wire: "chat" } },
      // Of “unknown” nobody says how much it reads.
      contextTokens: { ...Object.fromEntries(known), "local:short": 4_000, "local:tiny": 1_000 },
      models: { summarizer: "local:short" },
      turn: { heartbeatSeconds: 1 },
    },
    env: { OPENAI_API_KEY: "sk-test-0123456789", ANTHROPIC_API_KEY: "sk-ant-0123456789" },
  });
});

afterAll(async () => {
  server?.release();
  await workshop?.stop();
  await server?.stop();
});

const isSummary = ({ raw }: SeenRequest) => raw.includes("You condense the older part of a conversation");

/** Every summary holds what was said first, as a good one would. */
const usual = (request: SeenRequest): Answer => (isSummary(request) ? { text: "Summary: the code word is kumquat." } : { text: "Understood." });

beforeEach(() => {
  for (const name of ["known", "unknown"]) server.limit(name, limit);
  server.limit("short", 4_000);
  server.answer(usual);
});

const words = "All work and no play makes a conversation long, and longer with every word that is said in it. ";

/** 400 messages, as a client hands them in. */
function handedIn(): { role: "user" | "assistant"; content: string }[] {
  return Array.from({ length: 400 }, (_, n) => ({
    role: n % 2 === 0 ? "user" : "assistant",
    content: n === 0 ? `The code word is kumquat. ${words}` : `Message ${n}. ${words.repeat(1 + (n % 3))}`,
  }));
}

const of = <T extends AgentEvent["type"]>(events: AgentEvent[], type: T) => events.filter((event) => event.type === type).map(({ data }) => data as EventData[T]);

/** What the server was asked since, told apart. */
function asked(before: number) {
  const requests = server.requests().slice(before);
  const refused = new Set(server.refused());
  return { summaries: requests.filter(isSummary), refused: requests.filter((request) => refused.has(request)), calls: requests.filter((request) => !isSummary(request) && !refused.has(request)), all: requests };
}

/** The conversation in a request of the chat format, message by message. */
const told = (request: SeenRequest | undefined) => ((request?.body.messages ?? []) as object[]).map((message) => JSON.stringify(message));

/** No result without its call, in whichever format. */
function expectSound({ body, raw }: SeenRequest): void {
  const ids = (pattern: RegExp) => [...raw.matchAll(pattern)].map(([, id]) => id);
  expect(Object.keys(body)).toContain("tools");
  const calls = new Set([...ids(/"id":"(call_[^"]+)","type":"function"/g), ...ids(/"type":"function_call","call_id":"([^"]+)"/g), ...ids(/"type":"tool_use","id":"([^"]+)"/g)]);
  for (const id of [...ids(/"tool_call_id":"([^"]+)"/g), ...ids(/"type":"function_call_output","call_id":"([^"]+)"/g), ...ids(/"tool_use_id":"([^"]+)"/g)]) expect(calls).toContain(id);
}

async function handIn(agent: WorkshopAgent): Promise<AgentEvent> {
  const messages = handedIn();
  for (let from = 0; from < 390; from += 195) {
    const { runId } = await agent.invoke({ messages: [...messages.slice(from, from + 195), { role: "user", content: "Just remember this." }] });
    const end = await agent.over(runId, 60_000);
    if (end.type !== "agent.completed") return end;
  }
  const { runId } = await agent.invoke({ messages: [...messages.slice(390), { role: "user", content: "What is the code word? Answer in one word." }] });
  return agent.over(runId, 60_000);
}

test.each(Object.entries(wires))("400 messages against a model whose limit is known: the turn completes and nothing is refused (%s)", async (_, provider) => {
  const agent = await workshop.newAgent({ model: `${provider}:known` });
  const before = server.calls();
  expect(await handIn(agent)).toMatchObject({ type: "agent.completed", data: { result: "Understood." } });
  const { calls, summaries, refused } = asked(before);
  expect(refused).toEqual([]);
  expect(calls).toHaveLength(3);
  // Three times the conversation is too long; each time it is summarized, page by page.
  const log = await agent.log();
  const compactions = of(log, "context.compacted");
  expect(compactions.length).toBeGreaterThanOrEqual(2);
  expect(compactions.length).toBeLessThanOrEqual(3);
  expect(summaries.length).toBe(of(log, "model.consulted").length);
  expect(summaries.length).toBeLessThanOrEqual(compactions.length * 12);
  for (const request of calls) expectSound(request);
  for (const { before: size, after } of compactions) {
    expect(size).toBeGreaterThan(0.8 * limit);
    expect(after).toBeLessThan(0.8 * limit);
  }
  // What was said first is known from the summary, what was asked last word for word, and what is old not at all.
  const last = calls.at(-1)?.raw ?? "";
  expect(last).toContain("the code word is kumquat");
  expect(last).toContain("What is the code word? Answer in one word.");
  expect(last).not.toContain("Message 17.");
  // All of it can still be read.
  const messages = await agent.messages();
  expect(messages).toHaveLength(400 + 3 + 3);
  expect(messages.map(({ content }) => content)).toEqual(expect.arrayContaining(handedIn().map(({ content }) => content)));
});

test.each(Object.entries(wires))("400 messages against a model whose limit nobody knows: refused once a turn, then made to fit (%s)", async (_, provider) => {
  const agent = await workshop.newAgent({ model: `${provider}:unknown` });
  const before = server.calls();
  expect(await handIn(agent)).toMatchObject({ type: "agent.completed" });
  const { calls, summaries, refused } = asked(before);
  const log = await agent.log();
  const compactions = of(log, "context.compacted");
  expect(calls).toHaveLength(3);
  expect(refused.length).toBe(compactions.length);
  expect(compactions.length).toBeGreaterThanOrEqual(2);
  expect(compactions.length).toBeLessThanOrEqual(3);
  expect(summaries.length).toBe(of(log, "model.consulted").length);
  expect(of(log, "model.failed").map(({ kind, retryInMs }) => [kind, retryInMs])).toEqual(compactions.map(() => ["overflow", 0]));
  for (const request of calls) expectSound(request);
});

test("a conversation of 400 messages, turn by turn, is never refused, and compacted only now and then", async () => {
  const agent = await workshop.newAgent({ model: "local:known" });
  const before = server.calls();
  const turns = 200;
  for (let turn = 0; turn < turns; turn++) {
    expect(await agent.say(turn === 0 ? "The code word is kumquat." : `Turn ${turn}. ${words.repeat(5)}`)).toMatchObject({ type: "agent.completed" });
  }
  const { calls, refused, summaries } = asked(before);
  expect([calls.length, refused.length]).toEqual([turns, 0]);
  const log = await agent.log();
  const compactions = of(log, "context.compacted");
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
  const meter = of(log, "model.completed").map(({ context }) => context);
  expect(meter.map((context) => context?.used)).toEqual(of(log, "model.completed").map(({ usage }) => usage.inputTokens + usage.outputTokens));
  expect(new Set(meter.map((context) => `${context?.model} ${context?.limit}`))).toEqual(new Set([`local:known ${limit}`]));
  // Between two compactions each request begins with all of the one before it.
  const all = calls.map(told);
  const anew = all.slice(1).filter((messages, index) => messages.slice(0, all[index]?.length).join() !== all[index]?.join());
  expect(anew).toHaveLength(compactions.length);
}, 120_000);

test("tool results are shortened first, and nobody is asked for a summary", async () => {
  const agent = await workshop.newAgent({ model: "local:known" });
  server.answer((request) => {
    const done = request.raw.split('"role":"tool"').length - 1;
    // Not the same twice: a model that repeats itself is stopped.
    return done < 12 ? { toolCalls: [{ name: "kb", input: { kb: 4 + (done % 2) } }] } : { text: "Done." };
  });
  const before = server.calls();
  expect(await agent.say("Look twelve times.")).toMatchObject({ type: "agent.completed" });
  const { summaries, refused, calls } = asked(before);
  expect([summaries.length, refused.length]).toEqual([0, 0]);
  const compactions = of(await agent.log(), "context.compacted");
  expect(compactions.length).toBeGreaterThan(0);
  for (const compaction of compactions) expect(compaction).not.toHaveProperty("summary");
  const places = compactions.map(({ shortened }) => shortened);
  expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
  expect(calls.at(-1)?.raw).toMatch(/\[shortened; \d+ characters in all\]/);
  for (const request of calls) expectSound(request);
  const results = (await agent.messages()).filter(({ role }) => role === "tool");
  for (const { content } of results) expect(content).not.toContain("[shortened");
});

/** An agent with a long conversation behind it, close below the point where it would be compacted. */
async function longAgent(model: string): Promise<WorkshopAgent> {
  const agent = await workshop.newAgent({ model });
  const messages = handedIn().slice(0, 90);
  expect(await agent.over((await agent.invoke({ messages: [...messages, { role: "user", content: "Just remember this." }] })).runId)).toMatchObject({ type: "agent.completed" });
  const log = await agent.log();
  expect(of(log, "context.compacted")).toEqual([]);
  expect(of(log, "model.completed").at(-1)?.context?.used).toBeGreaterThan(0.65 * limit);
  return agent;
}

/** What tips it over. */
const more = words.repeat(60);

test("a crash between the summary and the next call changes nothing: no second summary, the same request", async () => {
  const agent = await longAgent("local:known");
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
  const { calls, summaries, refused } = asked(before);
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
  const agent = await longAgent("local:known");
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
  expect(asked(before).all).toHaveLength(1);
  expect(of(await agent.log(), "context.compacted")).toEqual([]);
});

test("a model that refuses whatever it is told is asked twice, and the turn fails", async () => {
  const agent = await longAgent("local:known");
  // From now on nothing fits, whatever is made of it.
  server.limit("known", 10);
  const before = server.calls();
  expect(await agent.say("Still there?")).toMatchObject({ type: "agent.error", data: { code: "model_overflow", advice: expect.any(String) } });
  const { refused, summaries, all } = asked(before);
  expect(refused).toHaveLength(2);
  expect(all).toHaveLength(2 + summaries.length);
  expect(of(await agent.log(), "context.compacted")).toHaveLength(1);
  // In a turn of its own it is tried again, and goes on where it can.
  server.limit("known", limit);
  expect(await agent.say("And now?")).toMatchObject({ type: "agent.completed" });
});

test("a request that is too large by itself is cut down, and both its ends are told", async () => {
  const agent = await workshop.newAgent({ model: "local:known" });
  const before = server.calls();
  expect(await agent.say(`BEGIN ${words.repeat(600)} END`)).toMatchObject({ type: "agent.completed" });
  const { calls, summaries, refused } = asked(before);
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
    return step <= 30 ? { text: `Step ${step}. ${words.repeat(8)}`, toolCalls: [{ name: "echo", input: { text: `${step} ${words.repeat(8)}` } }] } : { text: "Done." };
  });
  const before = server.calls();
  const request = "Look thirty times, and mind the ostrich on the way.";
  expect(await agent.say(request)).toMatchObject({ type: "agent.completed" });
  const { calls, refused } = asked(before);
  const compactions = of(await agent.log(), "context.compacted");
  expect(refused).toEqual([]);
  expect(calls).toHaveLength(31);
  expect(compactions.length).toBeGreaterThan(2);
  for (const one of calls) {
    expectSound(one);
    expect(one.raw.split(request).length - 1).toBe(1);
    expect(tokensOf(one.body)).toBeLessThanOrEqual(limit);
  }
});

test("a summarizer that fails for good is stood in for by the primary model; where that fails too, the turn says why", async () => {
  const agent = await longAgent("local:known");
  server.answer((request) => (request.model === "short" ? { fault: { kind: "status", status: 401, code: "invalid_api_key" } } : usual(request)));
  expect(await agent.say(`tip over ${more}`)).toMatchObject({ type: "agent.completed" });
  expect(of(await agent.log(), "model.consulted").map(({ role, model }) => [role, model])).toContainEqual(["primary", "local:known"]);
  const other = await longAgent("local:known");
  server.answer((request) => (isSummary(request) ? { fault: { kind: "status", status: 401, code: "invalid_api_key" } } : usual(request)));
  expect(await other.say(`tip over ${more}`)).toMatchObject({ type: "agent.error", data: { code: "model_auth" } });
  expect(of(await other.log(), "context.compacted")).toEqual([]);
});

test("a summarizer that reads less than was thought is given smaller pages", async () => {
  const agent = await longAgent("local:known");
  server.limit("short", 1_200);
  const before = server.calls();
  expect(await agent.say(`tip over ${more}`)).toMatchObject({ type: "agent.completed" });
  const { refused, summaries } = asked(before);
  expect(refused.every(isSummary) && refused.length > 0).toBe(true);
  expect(of(await agent.log(), "model.consulted").every(({ model }) => model === "local:short")).toBe(true);
  expect(summaries.length).toBeLessThan(30);
});

test("a summary under way is canceled with its turn", async () => {
  const agent = await longAgent("local:known");
  server.answer((request) => (isSummary(request) ? { text: "Summ", fault: { kind: "stall", phase: "text" } } : usual(request)));
  const before = server.abandoned();
  const { runId } = await agent.invoke({ message: `tip over ${more}` });
  await until("the summary to be under way", () => server.requests().some((request) => isSummary(request) && request.raw.includes("Just remember this.")));
  await agent.cancel();
  expect(await agent.over(runId)).toMatchObject({ type: "run.canceled" });
  await until("the summarizer to be left alone", () => server.abandoned() > before);
});

test("clearing forgets the summary too", async () => {
  const agent = await longAgent("local:known");
  await agent.say(`tip over ${more}`);
  expect(of(await agent.log(), "context.compacted")).toHaveLength(1);
  const { status } = await workshop.api(`${agent.at}/messages`, "DELETE");
  expect(status).toBe(204);
  expect(await agent.say("Hello.")).toMatchObject({ type: "agent.completed" });
  expect(server.requests().at(-1)?.raw).not.toContain("kumquat");
});
