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

// The typed client as a program uses it: agents, and turns that are told to the end whatever happens to the host.

const createWords = (count: number, from: string) => Array.from({ length: count }, (_, n) => `${from}${n}`).join(" ");

let workshop: Testbed;

beforeAll(async () => {
  workshop = await openTestbed({
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

afterAll(() => workshop?.stop());

let made = 0;

async function createTeller(port = workshop.house().port): Promise<AgentHandle> {
  const client = createClient({ url: `http://127.0.0.1:${port}`, token: workshop.house().token });
  return workshop
    .house()
    .client.agents()
    .create({ name: `teller-${++made}`, model: "scripted:teller" })
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

/** What the events say, put together: each message's words and thoughts, and everything else in its order. */
function summarizeEvents(events: readonly TurnEvent[]) {
  const said = new Map<string, { text: string; reasoning: string }>();
  const rest: TurnEvent[] = [];
  for (const event of events) {
    if (event.type === "unsaid") said.delete(event.messageId);
    else if (event.type === "text" || event.type === "reasoning") {
      const before = said.get(event.messageId) ?? { text: "", reasoning: "" };
      said.set(event.messageId, { ...before, [event.type]: before[event.type] + event.text });
    } else rest.push(event);
  }
  return { said: [...said], rest };
}

const toStoredTexts = (messages: readonly Message[]) =>
  messages
    .filter(({ role }) => role === "assistant")
    .map(({ id, content, reasoning = "" }) => [id, { text: content, reasoning }]);

test("a turn is told as it happens, and its outcome is what came of it", async () => {
  const agent = await createTeller();
  const turn = await agent.send("Tell me a tale.");
  let early: string | undefined;
  const events = await collectEvents(turn, async ({ type }) => {
    if (type === "text") early ??= (await agent.state()).run.status;
  });
  // The first words were here while the turn was still at work on the others.
  expect(early).toBe("running");
  const { said, rest } = summarizeEvents(events);
  expect(said).toEqual(toStoredTexts((await agent.messages()).messages));
  expect(rest).toMatchObject([
    { type: "started", model: "scripted:teller" },
    { type: "tool_call", call: { name: "echo", input: { text: "left" } } },
    { type: "tool_call", call: { name: "no_such_tool" } },
    { type: "tool_result" },
    { type: "tool_result" },
  ]);
  // They ran side by side.
  expect(rest).toContainEqual({ type: "tool_result", callId: expect.any(String), name: "echo", output: "left" });
  expect(rest).toContainEqual(expect.objectContaining({ type: "tool_result", name: "no_such_tool", failed: true }));
  const outcome = await turn.outcome();
  expect(outcome).toMatchObject({
    runId: turn.runId,
    agent: agent.name,
    status: "completed",
    content: createWords(60, "ü"),
    toolCalls: [{ name: "echo", output: "left" }, { failed: true }],
  });
  expect(outcome.usage.outputTokens).toBe((await agent.usage()).total.outputTokens);
  // Whoever comes later is told the same.
  expect(await collectEvents(turn)).toEqual(events);
});

test("a failing provider is told of, with what it takes back and how the turn ends", async () => {
  const agent = await createTeller();
  expect(summarizeEvents(await collectEvents(await agent.send("again")))).toMatchObject({
    said: [[expect.any(String), { text: "Better now." }]],
    rest: [{ type: "started" }, { type: "retrying", attempt: 1 }],
  });
  const refused = await agent.send("refuse");
  const outcome = await refused.outcome();
  expect(outcome).toMatchObject({ status: "error", failure: { code: "model_auth", advice: expect.any(String) } });
  expect((await agent.state()).run).toMatchObject({ runId: refused.runId, status: "error" });
});

test("after kill -9 in mid-sentence nothing is lost and nothing is told twice", async () => {
  const agent = await createTeller();
  const turn = await agent.send("A tale, and do not mind the noise.");
  let kills = 0;
  const events = await collectEvents(turn, async (event) => {
    if (event.type !== "text" || kills >= 3) return;
    kills++;
    await workshop.killMain();
  });
  expect(events.filter(({ type }) => type === "unsaid").length).toBeGreaterThan(0);
  expect(summarizeEvents(events).said).toEqual(toStoredTexts((await agent.messages()).messages));
  expect(summarizeEvents(events).said.map(([, { text }]) => text)).toEqual([
    createWords(60, "a"),
    createWords(60, "ü"),
  ]);
  expect(await turn.outcome()).toMatchObject({ status: "completed", content: createWords(60, "ü") });
});

test("a host that is stopped and started again is waited for", async () => {
  const agent = await createTeller();
  const turn = await agent.send("One more tale.");
  const waiting = turn.outcome();
  await workshop.stopHouse();
  // Said to nobody: it is taken as soon as somebody is there.
  const saying = agent.send("And while you were away?");
  const looking = agent.state();
  await workshop.startHouse();
  expect((await looking).state.agentType).toBe("think");
  expect(await waiting).toMatchObject({ status: "completed", content: createWords(60, "ü") });
  expect(await (await saying).outcome()).toMatchObject({
    status: "completed",
    content: "You said: And while you were away?",
  });
  expect((await agent.messages()).messages.filter(({ role }) => role === "user")).toHaveLength(2);
});

test("wherever the connection breaks, a message is said once and its turn is told once", async () => {
  const chance = createRandom("handle");
  const whole = await openFlakyProxy(workshop.house().port, []);
  await collectEvents(await (await createTeller(whole.port)).send("A tale."));
  const length = whole.countPassedBytes();
  whole.stop();
  const rounds = getRepeatCount("broken turns", { sample: 3, full: 6 });
  let cuts = 0;
  for (let round = 0; round < rounds; round++) {
    const cutter = await openFlakyProxy(
      workshop.house().port,
      Array.from({ length: 6 }, () => chance.below(length / 2)),
    );
    const agent = await createTeller(cutter.port);
    const turn = await agent.send("A tale.");
    const { said, rest } = summarizeEvents(await collectEvents(turn));
    const { messages } = await workshop.house().client.agent(agent.name).messages();
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
    expect(said).toEqual(toStoredTexts(messages));
    expect(rest.map(({ type }) => type)).toEqual(["started", "tool_call", "tool_call", "tool_result", "tool_result"]);
    cuts += cutter.countCuts();
    cutter.stop();
  }
  expect(cuts).toBeGreaterThan((rounds * 10) / 6);
});

test("the same key is the same turn, told from its beginning, however long ago that was", async () => {
  const agent = await createTeller();
  const first = await agent.send({ message: "tale", idempotencyKey: "k" });
  const events = await collectEvents(first);
  await (await agent.send("Something else.")).outcome();
  const again = await agent.send({ message: "tale", idempotencyKey: "k" });
  expect([again.runId, again.messageId]).toEqual([first.runId, first.messageId]);
  expect(await collectEvents(again)).toEqual(events);
});

test("a turn can be canceled, and so can one that waits", async () => {
  const agent = await createTeller();
  const slow = await agent.send("slow");
  const next = await agent.send("next");
  await next.cancel();
  expect(await next.outcome()).toMatchObject({ status: "canceled", content: "" });
  const events = await collectEvents(slow, ({ type }) => (type === "text" ? slow.cancel() : undefined));
  expect(summarizeEvents(events).said).toMatchObject([[expect.any(String), { text: "Begun. " }]]);
  expect(await slow.outcome()).toMatchObject({ status: "canceled", content: "Begun. " });
  expect(await agent.cancel()).toMatchObject({ status: "idle" });
});

test("a message that joined a turn goes on with the turn it ends up in", async () => {
  const agent = await createTeller();
  const before = workshop.bell.rings.length;
  let letGo = () => {};
  workshop.bell.onRing = () => new Promise<void>((resolve) => (letGo = resolve));
  const ring = await agent.send("ring");
  await waitUntil("the bell", () => workshop.bell.rings.length > before);
  const steered = await agent.send({ message: "not lost", mode: "steer" });
  expect(steered.runId).toBe(ring.runId);
  await ring.cancel();
  letGo();
  expect(await steered.outcome()).toMatchObject({ status: "completed", content: "You said: not lost" });
  expect(steered.runId).not.toBe(ring.runId);
});

test("a log read one event at a time, each over a connection of its own, misses nothing", async () => {
  const agent = await createTeller();
  const read: number[] = [];
  const turn = await agent.send("tale");
  while (read.length < 6) {
    for await (const { seq } of agent.events({ after: read.at(-1) ?? 0 })) {
      read.push(seq);
      break;
    }
  }
  await turn.outcome();
  const { events } = await workshop
    .house()
    .client.call("listEvents", { params: { agency: "global", agent: agent.name }, query: { limit: 1000 } });
  for await (const { seq } of agent.events({ after: read.at(-1) ?? 0 })) if (read.push(seq) === events.length) break;
  expect(read).toEqual(events.map(({ seq }) => seq));
  const stop = new AbortController();
  const waiting = agent.events({ signal: stop.signal }).next();
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("agents are made, listed, read page by page and deleted", async () => {
  const { client } = workshop.house();
  await client.call("createAgency", { body: { id: "review:pr-123" } });
  const agents = client.agents("review:pr-123");
  const made = await agents.create({ model: "scripted:teller" });
  const agent = client.agent(`${made.name}@review:pr-123`);
  expect(await agent.describe()).toMatchObject({ name: made.name, agency: "review:pr-123", model: "scripted:teller" });
  const listed: string[] = [];
  for await (const { name } of agents.list()) listed.push(name);
  expect(listed).toEqual([made.name]);
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

test("what cannot be the name of an agent is refused before anything is asked", () => {
  const { client } = workshop.house();
  for (const target of ["", "@review", "#channel", "a b", "think"])
    expect(() => client.agent(target)).toThrow(/agent|target|channel|agency/);
  expect(() => client.agents("a/b")).toThrow("cannot name an agency");
});

test("a whole conversation is followed in Node as in a page", async () => {
  const { url, token } = workshop.house();
  const agent = await createTeller();
  const connect = (url: string, headers: Record<string, string>) =>
    new WebSocket(url, { headers }) as unknown as globalThis.WebSocket;
  const live = new LiveConversation({ agent: agent.name, url, token, connect });
  const connections: Connection["state"][] = [];
  live.subscribe(() => connections.push(live.get().connection.state));
  // Said before anybody listens.
  const id = live.send("Hello from Node.");
  onTestFinished(live.open());
  await waitUntil("the answer", () => live.get().conversation.entries.at(-1)?.text === "You said: Hello from Node.");
  expect((await agent.messages()).messages[0]?.id).toBe(id);
  expect(connections).toContain("open");
  // A browser's socket could not send it.
  const without = new LiveConversation({ agent: agent.name, url, token });
  onTestFinished(without.open());
  await waitUntil("a word", () => without.get().connection.state === "refused");
  expect(without.get().connection).toMatchObject({ reason: expect.stringContaining("cannot send a token") });
});
