import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// A stopped agent does nothing and accepts nothing until it is started again, whatever happens to the host.

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    config: { turn: { heartbeatSeconds: 1 } },
    scripts: {
      busy: [
        { when: "^slow", steps: [{ text: "So far. " }, { wait: 60_000 }, { text: "The end." }] },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
});

afterAll(() => testbed?.stop());

const createAgent = () => testbed.newAgent({ model: "scripted:busy" });
const stop = (agent: TestAgent) => testbed.api(`${agent.at}/stop`, "POST");
const start = (agent: TestAgent) => testbed.api(`${agent.at}/start`, "POST");
const readStatus = async (agent: TestAgent) => (await testbed.api(`${agent.at}/state`)).body.state.status;

async function startSlowTurn(agent: TestAgent): Promise<string> {
  const { runId } = await agent.invoke({ message: "slow" });
  await agent.waitForEvent("its first words", ({ type }) => type === "model.delta");
  return runId;
}

test("stopping cancels the turn, keeps the queue, and refuses new messages until the agent is started", async () => {
  const agent = await createAgent();
  const runId = await startSlowTurn(agent);
  const queued = await agent.invoke({ message: "queued" });
  const joined = await agent.invoke({ message: "joined", mode: "steer", idempotencyKey: "joined" });
  expect(joined.runId).toBe(runId);

  // The queued message, and the one that had joined the canceled turn.
  expect(await stop(agent)).toMatchObject({ status: 200, body: { status: "stopped", queued: 2 } });
  expect(await agent.waitForEnd(runId)).toMatchObject({ type: "run.canceled", data: { reason: "stopped" } });
  expect(await readStatus(agent)).toBe("stopped");
  expect(await testbed.api(`${agent.at}/invoke`, "POST", { message: "no" })).toMatchObject({
    status: 409,
    body: { error: { code: "conflict", message: expect.stringContaining("stopped") } },
  });
  // A message that is known already is still the same message.
  expect(await agent.invoke({ message: "joined", idempotencyKey: "joined" })).toMatchObject({ duplicate: true });

  expect(await start(agent)).toMatchObject({ status: 200 });
  expect(await agent.waitForEnd(queued.runId)).toMatchObject({ data: { result: "You said: queued" } });
  await waitUntil("the joined message to be answered", async () =>
    (await agent.messages()).some(({ content }) => content === "You said: joined"),
  );
  expect((await agent.messages()).map(({ content }) => content)).not.toContain("no");
  await waitUntil("the agent to be idle", async () => (await readStatus(agent)) === "idle");
});

test("stopping and starting twice is the same as once", async () => {
  const agent = await createAgent();
  for (const change of [stop, stop, start, start]) expect(await change(agent)).toMatchObject({ status: 200 });
  const types = (await agent.log()).map(({ type }) => type);
  expect(types.filter((type) => type === "agent.stopped" || type === "agent.resumed")).toEqual([
    "agent.stopped",
    "agent.resumed",
  ]);
});

test("a stopped agent stays stopped when main is killed and when its conversation is cleared", async () => {
  const agent = await createAgent();
  await startSlowTurn(agent);
  const queued = await agent.invoke({ message: "queued" });
  await stop(agent);
  await testbed.restartMain();
  expect(await readStatus(agent)).toBe("stopped");
  // Reading the state woke the agent: had it resumed or started a turn, the log would say so.
  expect((await agent.log()).filter(({ type }) => type === "run.resumed" || type === "model.started")).toHaveLength(1);

  await testbed.api(`${agent.at}/cancel`, "POST", { runId: queued.runId });
  expect((await testbed.api(`${agent.at}/messages`, "DELETE")).status).toBe(204);
  expect(await readStatus(agent)).toBe("stopped");
  expect((await testbed.api(`${agent.at}/invoke`, "POST", { message: "no" })).status).toBe(409);

  await start(agent);
  const { runId: next } = await agent.invoke({ message: "hello" });
  expect(await agent.waitForEnd(next)).toMatchObject({ data: { result: "You said: hello" } });
});

test("clients on the socket see when an agent is stopped and started", async () => {
  const agent = await createAgent();
  const frames: { type: string; status?: string; state?: { status: string } }[] = [];
  const { url, token } = testbed.host();
  const connect = () => {
    const socket = new WebSocket(`${url.replace("http", "ws")}${agent.at}/ws?only=chat`, {
      headers: { authorization: `Bearer ${token}` },
    });
    socket.on("message", (data) => frames.push(JSON.parse(String(data))));
    return socket;
  };
  const first = connect();
  await waitUntil("a sync", () => frames.some(({ type }) => type === "sync"));
  await stop(agent);
  await waitUntil("the stop", () => frames.some(({ type, status }) => type === "status" && status === "stopped"));
  first.send(JSON.stringify({ type: "chat", id: "m1", content: "no" }));
  await waitUntil("the error", () => frames.some(({ type }) => type === "error"));
  first.close();

  frames.length = 0;
  const second = connect();
  await waitUntil("a sync", () => frames.some(({ type, state }) => type === "sync" && state?.status === "stopped"));
  await start(agent);
  await waitUntil("the start", () => frames.some(({ type, status }) => type === "status" && status === "idle"));
  second.close();
});
