import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { waitUntil } from "../kit/wait-until.ts";
import { turnEndTypes, openTestbed, type Testbed, type TestAgent } from "../kit/worker/testbed.ts";

// Several messages for one agent: whatever is typed while it is busy, nothing is lost.

const ring = (id: string) => ({ call: { tool: "ring_again", input: { bell: "BELL", id } } });

let workshop: Testbed;
let ollama: { url: string; release(): void; stop(): void };
let silent: { agent: TestAgent; runId: string };

beforeAll(async () => {
  ollama = await openSlowOllama();
  workshop = await openTestbed({
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
  await workshop?.stop();
  ollama?.stop();
});

const createBusyAgent = () => workshop.newAgent({ model: "scripted:busy" });
const readMessages = async (agent: TestAgent) =>
  (await agent.messages()).map(({ role, content, status }) => [role, content, status]);
const listOutcomes = async (agent: TestAgent) =>
  (await agent.log()).flatMap((event) =>
    turnEndTypes.includes(event.type) && "runId" in event.data ? [[event.data.runId, event.type]] : [],
  );

/** An agent whose tool is at work until it is let go. */
async function startToolCall() {
  const agent = await createBusyAgent();
  let letGo = () => {};
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  const before = workshop.bell.rings.length;
  workshop.bell.onRing = () => gone;
  const { runId } = await agent.invoke({ message: "work" });
  await waitUntil("the bell", () => workshop.bell.rings.length > before);
  return { agent, runId, letGo };
}

test("what steers is taken in before the next step, in the order it was said", async () => {
  const { agent, runId, letGo } = await startToolCall();
  for (const message of ["and this", "and that"])
    expect(await agent.invoke({ message, mode: "steer" })).toMatchObject({ runId, position: 0 });
  letGo();
  await agent.over(runId);
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

test("what steers during the last step keeps the turn going", async () => {
  const agent = await createBusyAgent();
  const { runId } = await agent.invoke({ message: "speak" });
  await agent.seen("its first words", ({ type }) => type === "model.delta");
  expect((await agent.invoke({ message: "one more thing", mode: "steer" })).runId).toBe(runId);
  expect(await agent.over(runId)).toMatchObject({ data: { result: "You said: one more thing" } });
  expect((await readMessages(agent)).map(([, content]) => content)).toEqual([
    "speak",
    "So far. The end.",
    "one more thing",
    "You said: one more thing",
  ]);
});

test("a cancel ends the turn, and what had not been taken in becomes a turn of its own", async () => {
  const { agent, runId, letGo } = await startToolCall();
  const steered = await agent.invoke({ message: "not lost", mode: "steer", idempotencyKey: "steered" });
  const queued = await agent.invoke({ message: "queued" });
  expect([steered.runId, queued.position]).toEqual([runId, 1]);
  expect(await agent.cancel()).toEqual({ runId, status: "canceled" });
  await agent.over(queued.runId);
  const own = await agent.invoke({ message: "not lost", mode: "steer", idempotencyKey: "steered" });
  expect(own).toMatchObject({ duplicate: true, messageId: steered.messageId });
  expect(own.runId).not.toBe(runId);
  expect(await agent.over(own.runId)).toMatchObject({ data: { result: "You said: not lost" } });
  letGo();
  const contents = (await readMessages(agent)).map(([, content]) => content);
  for (const said of ["work", "queued", "not lost"])
    expect(contents.filter((content) => content === said)).toEqual([said]);
  expect((await listOutcomes(agent)).filter(([id]) => id === runId)).toEqual([[runId, "run.canceled"]]);
});

test("a cancel before the turn has really begun loses nothing either", async () => {
  const agent = await workshop.newAgent({ model: "ollama:slow" });
  // The model server takes its time to say which models it has.
  const first = await agent.invoke({ message: "to be canceled" });
  const steered = await agent.invoke({ message: "not lost", mode: "steer" });
  expect(steered.runId).toBe(first.runId);
  expect(await agent.cancel()).toMatchObject({ runId: first.runId, status: "canceled" });
  ollama.release();
  await waitUntil("a turn for what was steered", async () =>
    (await agent.messages()).some(({ content, status }) => content === "not lost" && status === "complete"),
  );
  expect((await listOutcomes(agent)).filter(([id]) => id === first.runId)).toEqual([[first.runId, "run.canceled"]]);
});

test("an interrupt ends the turn and goes before what waits", async () => {
  const { agent, runId, letGo } = await startToolCall();
  const waiting = await agent.invoke({ message: "waiting" });
  const urgent = await agent.invoke({ message: "urgent", mode: "interrupt" });
  expect(urgent.position).toBe(0);
  await agent.over(waiting.runId);
  letGo();
  expect(await listOutcomes(agent)).toEqual([
    [runId, "run.canceled"],
    [urgent.runId, "agent.completed"],
    [waiting.runId, "agent.completed"],
  ]);
});

test("words that were said before a cancel stay, marked as such, and the agent goes on from them", async () => {
  const agent = await createBusyAgent();
  const { runId } = await agent.invoke({ message: "speak" });
  await agent.seen("its first words", ({ type }) => type === "model.delta");
  await agent.cancel({ runId });
  expect(await readMessages(agent)).toEqual([
    ["user", "speak", "complete"],
    ["assistant", "So far. ", "cancelled"],
  ]);
  expect(await agent.say("hello")).toMatchObject({ type: "agent.completed" });
});

test("5 MB of text are refused on every way in, with the limit's name, and the agent is none the worse", async () => {
  const agent = await createBusyAgent();
  const long = "x".repeat(5_000_000);
  const answer = await workshop.api(`${agent.at}/invoke`, "POST", { message: long });
  expect(answer).toMatchObject({ status: 400, body: { error: { code: "bad_request" } } });

  const { url, token } = workshop.house();
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
])("a turn with %s fails and names %s; another model helps", async (model, named) => {
  const agent = await workshop.newAgent({ model });
  expect(await agent.say("hello")).toMatchObject({
    type: "agent.error",
    data: { code: "no_model", error: expect.stringContaining(named) },
  });
  expect(await agent.run()).toMatchObject({ status: "error" });
  expect(await agent.say("once more")).toMatchObject({ type: "agent.error" });
  expect(
    (await readMessages(agent)).map(([role, content, status]) => (status === "error" ? "error" : `${role} ${content}`)),
  ).toEqual(["user hello", "error", "user once more", "error"]);
});

test("a turn whose model is silent for twenty seconds ends although nobody is connected", async () => {
  await waitUntil("the bell", () => workshop.bell.rings.some(({ id }) => id === "twenty"), { within: 40_000 });
  expect(await silent.agent.over(silent.runId)).toMatchObject({
    type: "agent.completed",
    data: { result: "At last." },
  });
  // It was never lost from memory, so it never had to be taken up again.
  expect((await silent.agent.log()).filter(({ type }) => type === "run.resumed")).toEqual([]);
});

/** A model server that lists its models only when it is let go, and then answers nothing. */
async function openSlowOllama() {
  let letGo = () => {};
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  const server = http.createServer(async (request, response) => {
    if (request.method === "GET") await gone;
    response.writeHead(request.method === "GET" ? 200 : 400, { "content-type": "application/json" });
    response.end(JSON.stringify({ models: [{ name: "slow" }], data: [{ id: "slow" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release: () => letGo(),
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
