import type { AgentEvent, ChatFrame, Message } from "@thinkery/sdk";
import { openAgentSocket } from "@thinkery/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { follow } from "../crash/follower.ts";
import { type FlakyProxy, openFlakyProxy } from "../kit/flaky-proxy.ts";
import { type Random, createRandom } from "../kit/random.ts";
import { getRepeatCount } from "../kit/sample.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Connections that break anywhere and clients that reconnect: no event is lost or repeated.

const createWords = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`).join(" ");

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
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

afterAll(() => testbed?.stop());

/** A WebSocket client that assembles the conversation from frames, as the page does. */
function createListener(agent: TestAgent, port: number) {
  const events: AgentEvent[] = [];
  const messages = new Map<string, string>();
  const streaming = new Map<string, string>();
  const mismatches: string[] = [];
  const storeMessage = ({ id, content }: Message) => messages.set(id, content);

  function handleFrame(frame: ChatFrame | AgentEvent): void {
    if ("seq" in frame) return void events.push(frame);
    if (frame.type === "history") frame.messages.forEach(storeMessage);
    if (frame.type === "task-queued") frame.messages.forEach(storeMessage);
    if (frame.type === "pending-message") streaming.set(frame.message.id, frame.message.content);
    if (frame.type === "text_delta")
      streaming.set(frame.messageId, (streaming.get(frame.messageId) ?? "") + frame.delta);
    if (frame.type === "tool_result") messages.set(`${frame.callId}-result`, frame.output);
    if (frame.type !== "message-complete") return;
    storeMessage(frame.message);
    const streamed = streaming.get(frame.message.id) ?? "";
    if (streamed !== frame.message.content) mismatches.push(`streamed “${streamed}” for “${frame.message.content}”`);
  }

  const connection = openAgentSocket({
    url: `ws://127.0.0.1:${port}/agency/global/agent/${agent.name}/ws`,
    token: testbed.host().token,
    after: 0,
    onFrame: handleFrame,
    connect: (url, headers) => new WebSocket(url, { headers }) as unknown as globalThis.WebSocket,
  });
  return { events, messages, mismatches, send: connection.send, stop: () => connection.close() };
}

/** Runs a turn with ten clients whose connections are cut twice each. */
async function runWithCuts(agent: TestAgent, random: Random, lengths: { socket: number; stream: number }) {
  const { port, token } = testbed.host();
  const proxies: FlakyProxy[] = [];
  const openProxy = async (length: number) => {
    const proxy = await openFlakyProxy(port, [random.below(length), random.below(length)]);
    proxies.push(proxy);
    return proxy.port;
  };
  const sockets = await Promise.all(
    Array.from({ length: 5 }, async () => createListener(agent, await openProxy(lengths.socket))),
  );
  const streams = await Promise.all(
    Array.from({ length: 5 }, async () =>
      follow({
        url: `http://127.0.0.1:${await openProxy(lengths.stream)}${agent.at}/events`,
        token,
        shouldReconnect: () => false,
        onEvent: () => {},
      }),
    ),
  );
  const { runId } = await agent.invoke({ message: "tell" });
  await agent.waitForEnd(runId);
  const [log, messages] = [await agent.log(), await agent.messages()];
  await waitUntil(
    "all clients to receive the whole log",
    () =>
      sockets.every(({ events }) => events.at(-1)?.seq === log.length) &&
      streams.every(({ received }) => received.at(-1)?.seq === log.length),
  );
  for (const { events, messages: received, mismatches, stop } of sockets) {
    expect(events).toEqual(log);
    // After the events it missed, a client receives the conversation.
    await waitUntil("the last of the conversation", () => received.size === messages.length);
    stop();
    expect(mismatches).toEqual([]);
    expect([...received].sort()).toEqual(messages.map(({ id, content }) => [id, content]).sort());
  }
  for (const { received, stop } of streams) {
    await stop();
    expect(received.map(({ text }) => JSON.parse(text))).toEqual(log);
  }
  for (const { stop } of proxies) stop();
  return {
    contents: messages.map(({ role, content }) => [role, content]),
    cuts: proxies.reduce((sum, { countCuts }) => sum + countCuts(), 0),
  };
}

/** Turns during which clients lose about 20 connections each. */
const brokenTurns = getRepeatCount("broken turns", { sample: 3, full: 5 });

test("clients whose connections keep breaking during a turn end up with the same conversation and every event once", async () => {
  const random = createRandom("disconnect");
  // One undisturbed turn first, to learn the length and content of a response.
  const first = await testbed.newAgent({ model: "scripted:tale" });
  const { port, token } = testbed.host();
  const [socketProxy, streamProxy] = [await openFlakyProxy(port, []), await openFlakyProxy(port, [])];
  const socket = createListener(first, socketProxy.port);
  const stream = follow({
    url: `http://127.0.0.1:${streamProxy.port}${first.at}/events`,
    token,
    shouldReconnect: () => false,
    onEvent: () => {},
  });
  await first.say("tell");
  const log = await first.log();
  await waitUntil("the whole log", () => socket.events.length === log.length && stream.received.length === log.length);
  socket.stop();
  await stream.stop();
  const undisturbed = (await first.messages()).map(({ role, content }) => [role, content]);
  const lengths = { socket: socketProxy.countPassedBytes(), stream: streamProxy.countPassedBytes() };
  for (const proxy of [socketProxy, streamProxy]) proxy.stop();

  const agents = await Promise.all(
    Array.from({ length: brokenTurns }, () => testbed.newAgent({ model: "scripted:tale" })),
  );
  const results = await Promise.all(agents.map((agent) => runWithCuts(agent, random, lengths)));
  for (const { contents } of results) expect(contents).toEqual(undisturbed);
  // A connection that starts near the end finishes before its second cut.
  expect(results.reduce((sum, { cuts }) => sum + cuts, 0)).toBeGreaterThan(12 * brokenTurns);
});

test("a log of many megabytes can be followed from its start, over a stream and over a socket", async () => {
  const agent = await testbed.newAgent({ model: "scripted:parrot" });
  const letters = "abcdefghijkl";
  for (const letter of letters) await agent.say(letter.repeat(390_000));
  expect(JSON.stringify(await agent.messages()).length).toBeGreaterThan(9_000_000);
  const { port, token } = testbed.host();
  const stream = follow({
    url: `http://127.0.0.1:${port}${agent.at}/events`,
    token,
    shouldReconnect: () => false,
    onEvent: () => {},
  });
  const socket = createListener(agent, port);
  // New events arrive after the missed ones, not instead of them.
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

test("messages sent over a socket while the host crashes are delivered once", async () => {
  const agent = await testbed.newAgent({ model: "scripted:parrot" });
  const socket = createListener(agent, testbed.host().port);
  const contents = Array.from({ length: 12 }, (_, n) => `message ${n}`);
  for (const [n, content] of contents.entries()) {
    socket.send({ type: "chat", id: `chat-${n}`, content });
    if (n % 4 === 1) await testbed.killMain();
  }
  await waitUntil(
    "every response",
    async () => (await agent.messages()).filter(({ role }) => role === "assistant").length === contents.length,
  );
  const log = await agent.log();
  await waitUntil("the whole log", () => socket.events.length === log.length);
  socket.stop();
  expect(socket.events).toEqual(log);
  expect(
    (await agent.messages()).filter(({ role }) => role === "user").map(({ id, content }) => [id, content]),
  ).toEqual(contents.map((content, n) => [`chat-${n}`, content]));
  expect(socket.mismatches).toEqual([]);
});

test("a message with the id of another message is rejected and leaves no trace", async () => {
  const agent = await testbed.newAgent({ model: "scripted:parrot" });
  await agent.say("hello");
  const id = (await agent.messages()).find(({ role }) => role === "assistant")?.id ?? "";
  const before = await agent.log();
  const frames: any[] = [];
  const connection = openAgentSocket({
    url: `ws://127.0.0.1:${testbed.host().port}/agency/global/agent/${agent.name}/ws`,
    token: testbed.host().token,
    onFrame: (frame) => frames.push(frame),
    connect: (url, headers) => new WebSocket(url, { headers }) as unknown as globalThis.WebSocket,
  });
  connection.send({ type: "chat", id, content: "impostor" });
  expect(await waitUntil("the error", () => frames.find(({ type }) => type === "error"))).toMatchObject({
    code: "conflict",
    id,
  });
  connection.close();
  expect(await agent.log()).toEqual(before);
  expect(await agent.say("still there?")).toMatchObject({ type: "agent.completed" });
  expect((await agent.log()).map(({ seq }) => seq)).toEqual((await agent.log()).map((_, index) => index + 1));
});
