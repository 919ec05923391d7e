import type { Approval } from "@thinkery/sdk";
import { AgentClient } from "agents/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { collectFrames } from "../kit/frames.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { task } from "../kit/worker/team.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// What a client that connects is told about a turn that waits, and how it answers over its socket.

const ask = { tool: "askUser", input: { prompt: "Your name?" } };
const write = { tool: "writeFile", input: { path: "src/a.txt", content: "one\n" } };

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    scripts: {
      default: [
        { when: "ask", steps: [{ call: ask }, { text: "Hello, {{ results.0 }}" }] },
        { when: "write", steps: [{ call: write }, { text: "{{ results.0 }}" }] },
        {
          when: "read",
          steps: [{ call: { tool: "readFile", input: { path: "b.txt" } } }, { call: ask }, { text: "ok" }],
        },
        { when: "delegate", steps: [{ call: task("write") }, { text: "{{ results.0 }}" }] },
        { steps: [{ text: "You said: {{ message }}" }] },
      ],
    },
  });
}, 60_000);

afterAll(() => testbed?.stop());

async function start(message: string): Promise<{ agent: TestAgent; runId: string }> {
  const config = { hitl: { tools: ["writeFile"] } };
  const blueprint = await testbed.newBlueprint({ model: "scripted:default", config });
  const agent = await testbed.newAgent({ blueprint });
  const { runId } = await agent.invoke({ message });
  await waitUntil("the pause", async () => (await agent.run()).status === "paused");
  return { agent, runId };
}

/** Connects the client published by the Agents SDK, and returns the states it receives. */
function collectStates(name: string): unknown[] {
  const { port, token } = testbed.host();
  class WithToken extends WebSocket {
    constructor(url: string, protocols?: string | string[]) {
      super(url, protocols, { headers: { authorization: `Bearer ${token}` } });
    }
  }
  const states: unknown[] = [];
  const client = new AgentClient({
    agent: "think",
    name: `global~${name}`,
    host: `127.0.0.1:${port}`,
    protocol: "ws",
    WebSocket: WithToken,
    maxRetries: 0,
    onStateUpdate: (state: unknown) => states.push(state),
  } as unknown as ConstructorParameters<typeof AgentClient>[0]);
  onTestFinished(() => client.close());
  return states;
}

async function getFirstSync(agent: TestAgent) {
  const frames = await collectFrames(testbed.host(), agent.at);
  const first = await waitUntil("the first frame", () => frames[0]);
  return first.type === "sync" ? first.state : first;
}

async function sendFrame(agent: TestAgent, frame: object): Promise<void> {
  const { url, token } = testbed.host();
  const socket = new WebSocket(`${url.replace("http", "ws")}${agent.at}/ws`, {
    headers: { authorization: `Bearer ${token}` },
  });
  onTestFinished(() => socket.terminate());
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  socket.send(JSON.stringify(frame));
}

async function getResult(agent: TestAgent, runId: string): Promise<string> {
  const end = await agent.waitForEnd(runId);
  return end.type === "agent.completed" ? end.data.result : JSON.stringify(end.data);
}

test.each([
  ["a question", "ask", { kind: "input", prompt: "Your name?" }],
  ["an approval", "write", { kind: "approval" }],
])("the first frame and the first state of a client that connects later tell of %s", async (_, message, wait) => {
  const { agent } = await start(message);
  for (let round = 0; round < 2; round++) {
    const expected = { status: "waiting", run: { status: "paused" }, pendingContinuation: wait };
    expect(await getFirstSync(agent)).toMatchObject(expected);
    const states = collectStates(agent.name);
    await waitUntil("the state", () => states.length > 0);
    expect(states[0]).toMatchObject(expected);
    if (round === 0) await testbed.restartMain();
  }
  await agent.cancel();
  for (const state of [await getFirstSync(agent), await agent.state()])
    expect(state).not.toHaveProperty("pendingContinuation");
  const states = collectStates(agent.name);
  await waitUntil("the state", () => states.length > 0);
  expect(states[0]).toMatchObject({ status: "idle" });
  expect(states[0]).not.toHaveProperty("pendingContinuation");
});

test("the state has the file that the turn worked on last, until it is over", async () => {
  const { agent, runId } = await start("read");
  expect((await agent.state()).activeFile).toBe("b.txt");
  expect(await getFirstSync(agent)).toMatchObject({ activeFile: "b.txt" });
  await testbed.api(`${agent.at}/answer`, "POST", { value: "Ann" });
  await agent.waitForEnd(runId);
  expect(await agent.state()).not.toHaveProperty("activeFile");
});

test("an approval is answered over a socket, and so is a question", async () => {
  const asked = await start("ask");
  await sendFrame(asked.agent, { type: "answer", value: "Ann" });
  expect(await getResult(asked.agent, asked.runId)).toBe("Hello, Ann");

  for (const approved of [true, false]) {
    const { agent, runId } = await start("write");
    const [approval] = (await testbed.api(`${agent.at}/approvals`)).body.approvals as Approval[];
    await sendFrame(agent, {
      type: "approve",
      approvalId: approval?.id,
      digest: approval?.digest,
      approved,
      ...(approved ? {} : { reason: "Not there." }),
    });
    expect(await getResult(agent, runId)).toMatch(approved ? /^Created src\/a\.txt/ : /denied this call.*Not there\./);
    const types = (await agent.log()).map(({ type }) => type);
    const waits = types.filter((type) => /^(hitl|run\.(paused|resumed))/.test(type));
    expect(waits).toEqual(["hitl.interrupt", "run.paused", "hitl.resume", "run.resumed"]);
  }
});

test("the state of a parent whose sub-agent asks says that it waits for it, and the inbox that a person has to", async () => {
  const { agent, runId } = await start("delegate");
  expect(await getFirstSync(agent)).toMatchObject({ status: "waiting", run: { status: "paused", reason: "subagent" } });
  const asking = await waitUntil("the wait", async () => {
    const [first] = (await agent.state()).subagents;
    return first?.waitingFor === undefined ? undefined : first;
  });
  expect(asking).toMatchObject({ waitingFor: "approval" });
  const approvals = (await testbed.api("/approvals")).body.approvals as Approval[];
  const own = approvals.find((approval) => approval.agent.startsWith(`global~${agent.name}/`));
  await testbed.api(`/approvals/${own?.id}`, "POST", { approved: true });
  expect(await getResult(agent, runId)).toMatch(/Created src\/a\.txt/);
});
