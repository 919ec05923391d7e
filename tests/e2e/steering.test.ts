import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { waitUntil } from "../kit/wait-until.ts";
import { turnEndTypes, openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Messages that are sent while an agent is busy: none is lost.

const ring = (id: string) => ({ call: { tool: "ring_again", input: { bell: "BELL", id } } });

let testbed: Testbed;
let ollama: { url: string; release(): void; stop(): void };
let silent: { agent: TestAgent; runId: string };

beforeAll(async () => {
  ollama = await openSlowOllama();
  testbed = await openTestbed({
    env: { OLLAMA_HOST: ollama.url, OPENAI_API_KEY: "" },
    scripts: {
      busy: [
        { when: "work", steps: [{ text: "I ring. " }, ring("work"), { text: "Worked." }] },
        { when: "speak", steps: [{ text: "So far. " }, { wait: 2_000 }, { text: "The end." }] },
        { when: "twenty", steps: [{ wait: 20_000 }, ring("twenty"), { text: "At last." }] },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
  const agent = await createBusyAgent();
  silent = { agent, runId: (await agent.invoke({ message: "twenty" })).runId };
});

afterAll(async () => {
  await testbed?.stop();
  ollama?.stop();
});

const createBusyAgent = () => testbed.newAgent({ model: "scripted:busy" });
const readMessages = async (agent: TestAgent) =>
  (await agent.messages()).map(({ role, content, status }) => [role, content, status]);
const listOutcomes = async (agent: TestAgent) =>
  (await agent.log()).flatMap((event) =>
    turnEndTypes.includes(event.type) && "runId" in event.data ? [[event.data.runId, event.type]] : [],
  );

/** Starts a turn whose tool call runs until `release` is called. */
async function startToolCall() {
  const agent = await createBusyAgent();
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const before = testbed.bell.rings.length;
  testbed.bell.onRing = () => released;
  const { runId } = await agent.invoke({ message: "work" });
  await waitUntil("the bell", () => testbed.bell.rings.length > before);
  return { agent, runId, release };
}

test("steering messages are added before the next step, in the order they were sent", async () => {
  const { agent, runId, release } = await startToolCall();
  for (const message of ["and this", "and that"])
    expect(await agent.invoke({ message, mode: "steer" })).toMatchObject({ runId, position: 0 });
  release();
  await agent.waitForEnd(runId);
  expect((await readMessages(agent)).map(([role, content]) => [role, content])).toEqual([
    ["user", "work"],
    ["assistant", "I ring. "],
    ["tool", "rang work"],
    ["user", "and this"],
    ["user", "and that"],
    ["assistant", "You said: and that"],
  ]);
  expect(await listOutcomes(agent)).toEqual([[runId, "agent.completed"]]);
});

test("a message that steers during the last step continues the turn", async () => {
  const agent = await createBusyAgent();
  const { runId } = await agent.invoke({ message: "speak" });
  await agent.waitForEvent("its first words", ({ type }) => type === "model.delta");
  expect((await agent.invoke({ message: "one more thing", mode: "steer" })).runId).toBe(runId);
  expect(await agent.waitForEnd(runId)).toMatchObject({ data: { result: "You said: one more thing" } });
  expect((await readMessages(agent)).map(([, content]) => content)).toEqual([
    "speak",
    "So far. The end.",
    "one more thing",
    "You said: one more thing",
  ]);
});

test("after a cancel, a steering message that was not yet added gets a turn of its own", async () => {
  const { agent, runId, release } = await startToolCall();
  const steered = await agent.invoke({ message: "not lost", mode: "steer", idempotencyKey: "steered" });
  const queued = await agent.invoke({ message: "queued" });
  expect([steered.runId, queued.position]).toEqual([runId, 1]);
  expect(await agent.cancel()).toEqual({ runId, status: "canceled" });
  await agent.waitForEnd(queued.runId);
  const resent = await agent.invoke({ message: "not lost", mode: "steer", idempotencyKey: "steered" });
  expect(resent).toMatchObject({ duplicate: true, messageId: steered.messageId });
  expect(resent.runId).not.toBe(runId);
  expect(await agent.waitForEnd(resent.runId)).toMatchObject({ data: { result: "You said: not lost" } });
  release();
  const contents = (await readMessages(agent)).map(([, content]) => content);
  for (const message of ["work", "queued", "not lost"])
    expect(contents.filter((content) => content === message)).toEqual([message]);
  expect((await listOutcomes(agent)).filter(([id]) => id === runId)).toEqual([[runId, "run.canceled"]]);
});

test("a cancel before the turn's first model call loses no message either", async () => {
  const agent = await testbed.newAgent({ model: "ollama:slow" });
  // The model server has not listed its models yet.
  const first = await agent.invoke({ message: "to be canceled" });
  const steered = await agent.invoke({ message: "not lost", mode: "steer" });
  expect(steered.runId).toBe(first.runId);
  expect(await agent.cancel()).toMatchObject({ runId: first.runId, status: "canceled" });
  ollama.release();
  await waitUntil("the turn of the steering message", async () =>
    (await agent.messages()).some(({ content, status }) => content === "not lost" && status === "complete"),
  );
  expect((await listOutcomes(agent)).filter(([id]) => id === first.runId)).toEqual([[first.runId, "run.canceled"]]);
});

test("an interrupt cancels the turn and runs before queued messages", async () => {
  const { agent, runId, release } = await startToolCall();
  const waiting = await agent.invoke({ message: "waiting" });
  const urgent = await agent.invoke({ message: "urgent", mode: "interrupt" });
  expect(urgent.position).toBe(0);
  await agent.waitForEnd(waiting.runId);
  release();
  expect(await listOutcomes(agent)).toEqual([
    [runId, "run.canceled"],
    [urgent.runId, "agent.completed"],
    [waiting.runId, "agent.completed"],
  ]);
});

test("text that was streamed before a cancel is kept and marked as canceled, and the agent stays usable", async () => {
  const agent = await createBusyAgent();
  const { runId } = await agent.invoke({ message: "speak" });
  await agent.waitForEvent("its first words", ({ type }) => type === "model.delta");
  await agent.cancel({ runId });
  expect(await readMessages(agent)).toEqual([
    ["user", "speak", "complete"],
    ["assistant", "So far. ", "cancelled"],
  ]);
  expect(await agent.say("hello")).toMatchObject({ type: "agent.completed" });
});

test("a 5 MB message is rejected over HTTP and WebSocket, and the agent stays usable", async () => {
  const agent = await createBusyAgent();
  const long = "x".repeat(5_000_000);
  const response = await testbed.api(`${agent.at}/invoke`, "POST", { message: long });
  expect(response).toMatchObject({ status: 400, body: { error: { code: "bad_request" } } });

  const { url, token } = testbed.host();
  const socket = new WebSocket(`${url.replace("http", "ws")}/agency/global/agent/${agent.name}/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const closed = new Promise<[number, string]>((resolve) =>
    socket.once("close", (code, reason) => resolve([code, String(reason)])),
  );
  socket.send(JSON.stringify({ type: "chat", id: "long", content: long }));
  expect(await closed).toEqual([1009, expect.stringContaining("1048576")]);

  expect(await agent.say("short")).toMatchObject({ type: "agent.completed" });
  expect(await agent.messages()).toHaveLength(2);
});

test.each([
  ["scripted:bsy", "scripted:busy"],
  ["openai:gpt-4.1-mini", "OPENAI_API_KEY"],
])("a turn with the model %s fails and the error names %s", async (model, expected) => {
  const agent = await testbed.newAgent({ model });
  expect(await agent.say("hello")).toMatchObject({
    type: "agent.error",
    data: { code: "no_model", error: expect.stringContaining(expected) },
  });
  expect(await agent.run()).toMatchObject({ status: "error" });
  expect(await agent.say("once more")).toMatchObject({ type: "agent.error" });
  expect(
    (await readMessages(agent)).map(([role, content, status]) => (status === "error" ? "error" : `${role} ${content}`)),
  ).toEqual(["user hello", "error", "user once more", "error"]);
});

test("a turn whose model is silent for twenty seconds completes without a client", async () => {
  await waitUntil("the bell", () => testbed.bell.rings.some(({ id }) => id === "twenty"), { timeoutMs: 40_000 });
  expect(await silent.agent.waitForEnd(silent.runId)).toMatchObject({
    type: "agent.completed",
    data: { result: "At last." },
  });
  // It stayed in memory throughout, so it was never resumed.
  expect((await silent.agent.log()).filter(({ type }) => type === "run.resumed")).toEqual([]);
});

/** A model server that lists its models only after `release`, and rejects all calls. */
async function openSlowOllama() {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const server = http.createServer(async (request, response) => {
    if (request.method === "GET") await released;
    response.writeHead(request.method === "GET" ? 200 : 400, { "content-type": "application/json" });
    response.end(JSON.stringify({ models: [{ name: "slow" }], data: [{ id: "slow" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release: () => release(),
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
