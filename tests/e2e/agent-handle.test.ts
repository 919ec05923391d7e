import type { Message } from "@thinkery/sdk";
import { type AgentHandle, createClient, type Turn, type TurnEvent } from "@thinkery/sdk/client";
import { type Connection, LiveConversation } from "@thinkery/sdk/conversation";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { openFlakyProxy } from "../kit/flaky-proxy.ts";
import { createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed } from "../kit/worker/testbed.ts";

// The typed client as a program uses it: agents, and turns whose events arrive completely whatever happens to the host.

const createWords = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`).join(" ");

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    config: { maxFailuresPerMinute: 100, turn: { heartbeatSeconds: 1, maxCrashes: 20 } },
    scripts: {
      teller: {
        pace: 10,
        exchanges: [
          {
            when: "tale",
            steps: [
              { reasoning: "They want a tale." },
              { text: createWords(60, "a") },
              {
                calls: [
                  { tool: "echo", input: { text: "left" } },
                  { tool: "no_such_tool", input: {} },
                ],
              },
              { text: createWords(60, "ü") },
            ],
          },
          { when: "again", steps: [{ fail: { status: 503, times: 1, retryAfter: 1 } }, { text: "Better now." }] },
          { when: "refuse", steps: [{ text: "Let me see." }, { fail: 401 }] },
          { when: "slow", steps: [{ text: "Begun. " }, { wait: 600_000 }, { text: "Ended." }] },
          {
            when: "ring",
            steps: [{ call: { tool: "ring_again", input: { bell: "BELL", id: "x" } } }, { text: "Rung." }],
          },
          { steps: [{ text: "You said: {{ message }}" }] },
        ],
      },
    },
  });
});

afterAll(() => testbed?.stop());

let agentCount = 0;

async function createTeller(port = testbed.host().port): Promise<AgentHandle> {
  const client = createClient({ url: `http://127.0.0.1:${port}`, token: testbed.host().token });
  return testbed
    .host()
    .client.agents()
    .create({ name: `teller-${++agentCount}`, model: "scripted:teller" })
    .then(({ name }) => client.agent(name));
}

async function collectEvents(
  turn: Turn,
  onEvent: (event: TurnEvent) => Promise<void> | void = () => {},
): Promise<TurnEvent[]> {
  const events: TurnEvent[] = [];
  for await (const event of turn) {
    events.push(event);
    await onEvent(event);
  }
  return events;
}

/** Joins the text and reasoning of each message and returns all other events in order. */
function summarizeEvents(events: readonly TurnEvent[]) {
  const texts = new Map<string, { text: string; reasoning: string }>();
  const others: TurnEvent[] = [];
  for (const event of events) {
    if (event.type === "discarded") texts.delete(event.messageId);
    else if (event.type === "text" || event.type === "reasoning") {
      const previous = texts.get(event.messageId) ?? { text: "", reasoning: "" };
      texts.set(event.messageId, { ...previous, [event.type]: previous[event.type] + event.text });
    } else others.push(event);
  }
  return { texts: [...texts], others };
}

const toStoredTexts = (messages: readonly Message[]) =>
  messages
    .filter(({ role }) => role === "assistant")
    .map(({ id, content, reasoning = "" }) => [id, { text: content, reasoning }]);

test("a turn streams its events as they happen and ends with an outcome", async () => {
  const agent = await createTeller();
  const turn = await agent.send("Tell me a tale.");
  let statusAtFirstText: string | undefined;
  const events = await collectEvents(turn, async ({ type }) => {
    if (type === "text") statusAtFirstText ??= (await agent.state()).run.status;
  });
  // The first text arrived while the turn was still running.
  expect(statusAtFirstText).toBe("running");
  const { texts, others } = summarizeEvents(events);
  expect(texts).toEqual(toStoredTexts((await agent.messages()).messages));
  expect(others).toMatchObject([
    { type: "started", model: "scripted:teller" },
    { type: "tool_call", call: { name: "echo", input: { text: "left" } } },
    { type: "tool_call", call: { name: "no_such_tool" } },
    { type: "tool_result" },
    { type: "tool_result" },
  ]);
  // The calls ran in parallel, so their results may be in either order.
  expect(others).toContainEqual({ type: "tool_result", callId: expect.any(String), name: "echo", output: "left" });
  expect(others).toContainEqual(expect.objectContaining({ type: "tool_result", name: "no_such_tool", failed: true }));
  const outcome = await turn.outcome();
  expect(outcome).toMatchObject({
    runId: turn.runId,
    agent: agent.name,
    status: "completed",
    content: createWords(60, "ü"),
    toolCalls: [{ name: "echo", output: "left" }, { failed: true }],
  });
  expect(outcome.usage.outputTokens).toBe((await agent.usage()).total.outputTokens);
  // Iterating again yields the same events.
  expect(await collectEvents(turn)).toEqual(events);
});

test("provider failures are reported: retries as events, final errors in the outcome", async () => {
  const agent = await createTeller();
  expect(summarizeEvents(await collectEvents(await agent.send("again")))).toMatchObject({
    texts: [[expect.any(String), { text: "Better now." }]],
    others: [{ type: "started" }, { type: "retrying", attempt: 1 }],
  });
  const failing = await agent.send("refuse");
  const outcome = await failing.outcome();
  expect(outcome).toMatchObject({ status: "error", failure: { code: "model_auth", advice: expect.any(String) } });
  expect((await agent.state()).run).toMatchObject({ runId: failing.runId, status: "error" });
});

test("after kill -9 mid-sentence no text is lost or repeated", async () => {
  const agent = await createTeller();
  const turn = await agent.send("A tale, and do not mind the noise.");
  let kills = 0;
  const events = await collectEvents(turn, async (event) => {
    if (event.type !== "text" || kills >= 3) return;
    kills++;
    await testbed.killMain();
  });
  expect(events.filter(({ type }) => type === "discarded").length).toBeGreaterThan(0);
  expect(summarizeEvents(events).texts).toEqual(toStoredTexts((await agent.messages()).messages));
  expect(summarizeEvents(events).texts.map(([, { text }]) => text)).toEqual([
    createWords(60, "a"),
    createWords(60, "ü"),
  ]);
  expect(await turn.outcome()).toMatchObject({ status: "completed", content: createWords(60, "ü") });
});

test("the client waits for a host that is stopped and started again", async () => {
  const agent = await createTeller();
  const turn = await agent.send("One more tale.");
  const outcome = turn.outcome();
  await testbed.stopHost();
  // Sent while no host is running: accepted as soon as it is back.
  const sending = agent.send("And while you were away?");
  const state = agent.state();
  await testbed.startHost();
  expect((await state).state.agentType).toBe("think");
  expect(await outcome).toMatchObject({ status: "completed", content: createWords(60, "ü") });
  expect(await (await sending).outcome()).toMatchObject({
    status: "completed",
    content: "You said: And while you were away?",
  });
  expect((await agent.messages()).messages.filter(({ role }) => role === "user")).toHaveLength(2);
});

test("wherever the connection breaks, a message is sent once and no event is lost or repeated", async () => {
  const random = createRandom("handle");
  const uncut = await openFlakyProxy(testbed.host().port, []);
  await collectEvents(await (await createTeller(uncut.port)).send("A tale."));
  const length = uncut.countPassedBytes();
  uncut.stop();
  const rounds = getRepeatCount("broken turns", { sample: 3, full: 6 });
  let cuts = 0;
  for (let round = 0; round < rounds; round++) {
    const proxy = await openFlakyProxy(
      testbed.host().port,
      Array.from({ length: 6 }, () => random.below(length / 2)),
    );
    const agent = await createTeller(proxy.port);
    const turn = await agent.send("A tale.");
    const { texts, others } = summarizeEvents(await collectEvents(turn));
    const { messages } = await testbed.host().client.agent(agent.name).messages();
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
    expect(texts).toEqual(toStoredTexts(messages));
    expect(others.map(({ type }) => type)).toEqual(["started", "tool_call", "tool_call", "tool_result", "tool_result"]);
    cuts += proxy.countCuts();
    proxy.stop();
  }
  expect(cuts).toBeGreaterThan((rounds * 10) / 6);
});

test("the same idempotency key returns the same turn with all its events, however old it is", async () => {
  const agent = await createTeller();
  const first = await agent.send({ message: "tale", idempotencyKey: "k" });
  const events = await collectEvents(first);
  await (await agent.send("Something else.")).outcome();
  const again = await agent.send({ message: "tale", idempotencyKey: "k" });
  expect([again.runId, again.messageId]).toEqual([first.runId, first.messageId]);
  expect(await collectEvents(again)).toEqual(events);
});

test("running and queued turns can be canceled", async () => {
  const agent = await createTeller();
  const slow = await agent.send("slow");
  const next = await agent.send("next");
  await next.cancel();
  expect(await next.outcome()).toMatchObject({ status: "canceled", content: "" });
  const events = await collectEvents(slow, ({ type }) => (type === "text" ? slow.cancel() : undefined));
  expect(summarizeEvents(events).texts).toMatchObject([[expect.any(String), { text: "Begun. " }]]);
  expect(await slow.outcome()).toMatchObject({ status: "canceled", content: "Begun. " });
  expect(await agent.cancel()).toMatchObject({ status: "idle" });
});

test("a steering message follows the turn it ends up in", async () => {
  const agent = await createTeller();
  const ringsBefore = testbed.bell.rings.length;
  let release = () => {};
  testbed.bell.onRing = () => new Promise<void>((resolve) => (release = resolve));
  const ring = await agent.send("ring");
  await waitUntil("the bell", () => testbed.bell.rings.length > ringsBefore);
  const steered = await agent.send({ message: "not lost", mode: "steer" });
  expect(steered.runId).toBe(ring.runId);
  await ring.cancel();
  release();
  expect(await steered.outcome()).toMatchObject({ status: "completed", content: "You said: not lost" });
  expect(steered.runId).not.toBe(ring.runId);
});

test("reading the log one event per connection misses nothing", async () => {
  const agent = await createTeller();
  const seqs: number[] = [];
  const turn = await agent.send("tale");
  while (seqs.length < 6) {
    for await (const { seq } of agent.events({ after: seqs.at(-1) ?? 0 })) {
      seqs.push(seq);
      break;
    }
  }
  await turn.outcome();
  const { events } = await testbed
    .host()
    .client.call("listEvents", { params: { agency: "global", agent: agent.name }, query: { limit: 1000 } });
  for await (const { seq } of agent.events({ after: seqs.at(-1) ?? 0 })) if (seqs.push(seq) === events.length) break;
  expect(seqs).toEqual(events.map(({ seq }) => seq));
  const controller = new AbortController();
  const waiting = agent.events({ signal: controller.signal }).next();
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("agents are created, listed, paged through and deleted", async () => {
  const { client } = testbed.host();
  await client.call("createAgency", { body: { id: "review:pr-123" } });
  const agents = client.agents("review:pr-123");
  const created = await agents.create({ model: "scripted:teller" });
  const agent = client.agent(`${created.name}@review:pr-123`);
  expect(await agent.describe()).toMatchObject({
    name: created.name,
    agency: "review:pr-123",
    model: "scripted:teller",
  });
  const listed: string[] = [];
  for await (const { name } of agents.list()) listed.push(name);
  expect(listed).toEqual([created.name]);
  for (let n = 0; n < 4; n++) await (await agent.send(`number ${n}`)).outcome();
  const page = await agent.messages({ limit: 2 });
  expect(page.messages.map(({ content }) => content)).toEqual(["number 3", "You said: number 3"]);
  expect((await agent.messages({ limit: 2, before: Number(page.next) })).messages[0]?.content).toBe("number 2");
  const all: string[] = [];
  for await (const { role, content } of agent.allMessages()) if (role === "user") all.push(content);
  expect(all).toEqual(["number 3", "number 2", "number 1", "number 0"]);
  expect((await agent.state()).state.thread.agencyId).toBe("review:pr-123");
  const last = await agent.send("slow");
  const iterating = collectEvents(last, ({ type }) => (type === "text" ? agent.delete() : undefined));
  await expect(iterating).rejects.toMatchObject({ code: "not_found" });
  await expect(agent.send("Are you there?")).rejects.toMatchObject({ code: "not_found" });
});

test("invalid agent names are rejected before any request is sent", () => {
  const { client } = testbed.host();
  for (const target of ["", "@review", "#channel", "a b", "think"])
    expect(() => client.agent(target)).toThrow(/agent|target|channel|agency/);
  expect(() => client.agents("a/b")).toThrow("Invalid agency name");
});

test("LiveConversation works in Node as in a browser", async () => {
  const { url, token } = testbed.host();
  const agent = await createTeller();
  const connect = (url: string, headers: Record<string, string>) =>
    new WebSocket(url, { headers }) as unknown as globalThis.WebSocket;
  const live = new LiveConversation({ agent: agent.name, url, token, connect });
  const connections: Connection["state"][] = [];
  live.subscribe(() => connections.push(live.get().connection.state));
  // Sent before the connection is open.
  const id = live.send("Hello from Node.");
  onTestFinished(live.open());
  await waitUntil("the response", () => live.get().conversation.entries.at(-1)?.text === "You said: Hello from Node.");
  expect((await agent.messages()).messages[0]?.id).toBe(id);
  expect(connections).toContain("open");
  // Without `connect`, the token cannot be sent, as in a browser.
  const withoutConnect = new LiveConversation({ agent: agent.name, url, token });
  onTestFinished(withoutConnect.open());
  await waitUntil("the connection to be refused", () => withoutConnect.get().connection.state === "refused");
  expect(withoutConnect.get().connection).toMatchObject({ reason: expect.stringContaining("cannot send a token") });
});
