import type { AgentEvent, ChatFrame, Message } from "@thinkery/sdk";
import { talk } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { follow } from "../crash/follower.ts";
import { type FlakyProxy, openFlakyProxy } from "../kit/flaky-proxy.ts";
import { type Random, createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Connections that break anywhere, and clients that come back: nothing is missed, nothing is told twice.

const createWords = (count: number, from: string) => Array.from({ length: count }, (_, n) => `${from}${n}`).join(" ");

let workshop: Testbed;

beforeAll(async () => {
  workshop = await openTestbed({
    config: { maxFailuresPerMinute: 100, turn: { heartbeatSeconds: 1, maxCrashes: 20 } },
    scripts: {
      tale: {
        pace: 10,
        exchanges: [
          {
            steps: [
              { reasoning: createWords(10, "hm") },
              { text: createWords(40, "a") },
              {
                calls: [
                  { tool: "echo", input: { text: "left" } },
                  { tool: "wait", input: { ms: 50 } },
                ],
              },
              { text: createWords(30, "b") },
              { call: { tool: "write_todos", input: { todos: [{ content: "rest", status: "pending" }] } } },
              { text: createWords(40, "ü") },
            ],
          },
        ],
      },
      parrot: [{ steps: [{ text: "{{ message }}" }] }],
    },
  });
});

afterAll(() => workshop?.stop());

/** A client of the socket, as a page is one: it puts together what it is told. */
function createListener(agent: TestAgent, port: number) {
  const events: AgentEvent[] = [];
  const messages = new Map<string, string>();
  const streaming = new Map<string, string>();
  const wrong: string[] = [];
  const keep = ({ id, content }: Message) => messages.set(id, content);

  function take(frame: ChatFrame | AgentEvent): void {
    if ("seq" in frame) return void events.push(frame);
    if (frame.type === "history") frame.messages.forEach(keep);
    if (frame.type === "task-queued") frame.messages.forEach(keep);
    if (frame.type === "pending-message") streaming.set(frame.message.id, frame.message.content);
    if (frame.type === "text_delta")
      streaming.set(frame.messageId, (streaming.get(frame.messageId) ?? "") + frame.delta);
    if (frame.type === "tool_result") messages.set(`${frame.callId}-result`, frame.output);
    if (frame.type !== "message-complete") return;
    keep(frame.message);
    const said = streaming.get(frame.message.id) ?? "";
    if (said !== frame.message.content) wrong.push(`heard “${said}” for “${frame.message.content}”`);
  }

  const line = talk({
    url: `ws://127.0.0.1:${port}/agency/global/agent/${agent.name}/ws`,
    token: workshop.house().token,
    after: 0,
    onFrame: take,
    connect: (url, headers) => new WebSocket(url, { headers }) as unknown as globalThis.WebSocket,
  });
  return { events, messages, wrong, send: line.send, stop: () => line.close() };
}

async function drop(agent: TestAgent, chance: Random, lengths: { socket: number; stream: number }) {
  const { port, token } = workshop.house();
  const cutters: FlakyProxy[] = [];
  const cutter = async (length: number) => {
    const made = await openFlakyProxy(port, [chance.below(length), chance.below(length)]);
    cutters.push(made);
    return made.port;
  };
  const sockets = await Promise.all(
    Array.from({ length: 5 }, async () => createListener(agent, await cutter(lengths.socket))),
  );
  const streams = await Promise.all(
    Array.from({ length: 5 }, async () =>
      follow({
        url: `http://127.0.0.1:${await cutter(lengths.stream)}${agent.at}/events`,
        token,
        leave: () => false,
        onEvent: () => {},
      }),
    ),
  );
  const { runId } = await agent.invoke({ message: "tell" });
  await agent.over(runId);
  const [log, messages] = [await agent.log(), await agent.messages()];
  await waitUntil(
    "everybody to know everything",
    () =>
      sockets.every(({ events }) => events.at(-1)?.seq === log.length) &&
      streams.every(({ received }) => received.at(-1)?.seq === log.length),
  );
  for (const { events, messages: known, wrong, stop } of sockets) {
    expect(events).toEqual(log);
    // After what it missed, a client is told the conversation.
    await waitUntil("the last of the conversation", () => known.size === messages.length);
    stop();
    expect(wrong).toEqual([]);
    expect([...known].sort()).toEqual(messages.map(({ id, content }) => [id, content]).sort());
  }
  for (const { received, stop } of streams) {
    await stop();
    expect(received.map(({ text }) => JSON.parse(text))).toEqual(log);
  }
  for (const { stop } of cutters) stop();
  return {
    contents: messages.map(({ role, content }) => [role, content]),
    cuts: cutters.reduce((sum, { countCuts }) => sum + countCuts(), 0),
  };
}

/** Turns whose clients lose their connections in about 20 places each. */
const broken = getRepeatCount("broken turns", { sample: 3, full: 5 });

test("clients whose connections break again and again during a turn end up with the same conversation and every event once", async () => {
  const chance = createRandom("disconnect");
  // One undisturbed turn first, to know how long an answer is and what it says.
  const first = await workshop.newAgent({ model: "scripted:tale" });
  const { port, token } = workshop.house();
  const [socketLine, streamLine] = [await openFlakyProxy(port, []), await openFlakyProxy(port, [])];
  const socket = createListener(first, socketLine.port);
  const stream = follow({
    url: `http://127.0.0.1:${streamLine.port}${first.at}/events`,
    token,
    leave: () => false,
    onEvent: () => {},
  });
  await first.say("tell");
  const log = await first.log();
  await waitUntil("the whole log", () => socket.events.length === log.length && stream.received.length === log.length);
  socket.stop();
  await stream.stop();
  const undisturbed = (await first.messages()).map(({ role, content }) => [role, content]);
  const lengths = { socket: socketLine.countPassedBytes(), stream: streamLine.countPassedBytes() };
  for (const line of [socketLine, streamLine]) line.stop();

  const agents = await Promise.all(Array.from({ length: broken }, () => workshop.newAgent({ model: "scripted:tale" })));
  const dropped = await Promise.all(agents.map((agent) => drop(agent, chance, lengths)));
  for (const { contents } of dropped) expect(contents).toEqual(undisturbed);
  // A connection that begins near the end is over before its second cut.
  expect(dropped.reduce((sum, { cuts }) => sum + cuts, 0)).toBeGreaterThan(12 * broken);
});

test("an agent with many megabytes behind it can be followed from its beginning, over a stream and over a socket", async () => {
  const agent = await workshop.newAgent({ model: "scripted:parrot" });
  const letters = "abcdefghijkl";
  for (const letter of letters) await agent.say(letter.repeat(390_000));
  expect(JSON.stringify(await agent.messages()).length).toBeGreaterThan(9_000_000);
  const { port, token } = workshop.house();
  const stream = follow({
    url: `http://127.0.0.1:${port}${agent.at}/events`,
    token,
    leave: () => false,
    onEvent: () => {},
  });
  const socket = createListener(agent, port);
  // What happens meanwhile comes after what they missed, not in its place.
  for (const word of ["meanwhile", "this", "happened"]) await agent.say(word);
  const log = await agent.log();
  await waitUntil(
    "the whole log, twice",
    () => stream.received.length >= log.length && socket.events.length >= log.length,
  );
  await waitUntil("the newest message", () => [...socket.messages.values()].includes("happened"));
  await stream.stop();
  socket.stop();
  expect(stream.received.map(({ seq }) => seq)).toEqual(log.map(({ seq }) => seq));
  expect(socket.events.map(({ seq }) => seq)).toEqual(log.map(({ seq }) => seq));
});

test("what is said over a socket while the host crashes is said once", async () => {
  const agent = await workshop.newAgent({ model: "scripted:parrot" });
  const socket = createListener(agent, workshop.house().port);
  const said = Array.from({ length: 12 }, (_, n) => `message ${n}`);
  for (const [n, content] of said.entries()) {
    socket.send({ type: "chat", id: `chat-${n}`, content });
    if (n % 4 === 1) await workshop.killMain();
  }
  await waitUntil(
    "every answer",
    async () => (await agent.messages()).filter(({ role }) => role === "assistant").length === said.length,
  );
  const log = await agent.log();
  await waitUntil("the whole log", () => socket.events.length === log.length);
  socket.stop();
  expect(socket.events).toEqual(log);
  expect(
    (await agent.messages()).filter(({ role }) => role === "user").map(({ id, content }) => [id, content]),
  ).toEqual(said.map((content, n) => [`chat-${n}`, content]));
  expect(socket.wrong).toEqual([]);
});

test("a message with another message's id is refused, and nothing of it is left", async () => {
  const agent = await workshop.newAgent({ model: "scripted:parrot" });
  await agent.say("hello");
  const id = (await agent.messages()).find(({ role }) => role === "assistant")?.id ?? "";
  const before = await agent.log();
  const frames: any[] = [];
  const line = talk({
    url: `ws://127.0.0.1:${workshop.house().port}/agency/global/agent/${agent.name}/ws`,
    token: workshop.house().token,
    onFrame: (frame) => frames.push(frame),
    connect: (url, headers) => new WebSocket(url, { headers }) as unknown as globalThis.WebSocket,
  });
  line.send({ type: "chat", id, content: "impostor" });
  expect(await waitUntil("the refusal", () => frames.find(({ type }) => type === "error"))).toMatchObject({
    code: "conflict",
    id,
  });
  line.close();
  expect(await agent.log()).toEqual(before);
  expect(await agent.say("still there?")).toMatchObject({ type: "agent.completed" });
  expect((await agent.log()).map(({ seq }) => seq)).toEqual((await agent.log()).map((_, index) => index + 1));
});
