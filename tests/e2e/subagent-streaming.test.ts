import type { SubagentFrame } from "@thinkery/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectFrames } from "../kit/frames.ts";
import { readEvents } from "../kit/sse.ts";
import { waitUntil } from "../kit/wait-until.ts";
import { openTestbed, type TestAgent, type Testbed } from "../kit/worker/testbed.ts";

// What a sub-agent that streams shows to the clients of the agents above it.

const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
const call = (tool: string, input: object = {}) => ({ call: { tool, input } });
const task = (description: string, streaming?: boolean) =>
  call("task", { description, ...(streaming === undefined ? {} : { streaming }) });
const scripts = {
  default: [
    { when: "/^stream$/", steps: [task("count", true), { text: "{{ results.0 }}" }] },
    { when: "/^silent$/", steps: [task("count"), { text: "{{ results.0 }}" }] },
    { when: "/^nest$/", steps: [task("pass on", true), { text: "{{ results.0 }}" }] },
    { when: "/^hide$/", steps: [task("pass on"), { text: "{{ results.0 }}" }] },
    { when: "/^break$/", steps: [task("fail", true), { text: "{{ results.0 }}" }] },
    { when: "/^hold$/", steps: [task("ring", true), { text: "{{ results.0 }}" }] },
    { when: "/^leak$/", steps: [task("reveal", true), { text: "over" }] },
  ],
  fast: {
    pace: 10,
    exchanges: [
      {
        when: "/^count$/",
        steps: [
          { text: "First I look." },
          call("writeFile", { path: "counted.md", content: "x" }),
          call("readFile", { path: "missing.md" }),
          { text: words },
        ],
      },
      { when: "/^pass on$/", steps: [{ text: "I ask." }, task("whisper", true), { text: "It said {{ results.0 }}." }] },
      { when: "/^whisper$/", steps: [{ text: "hush" }] },
      { when: "/^fail$/", steps: [{ text: "I try." }, call("listFiles"), { fail: 401 }] },
      {
        when: "/^ring$/",
        steps: [{ text: "Before." }, call("ring_again", { bell: "BELL", id: "ring" }), { text: "After." }],
      },
      { when: "/^reveal$/", steps: [{ text: "The key is sk-secret-streaming-0123456789, sorry." }] },
    ],
  },
};

let testbed: Testbed;

beforeAll(async () => {
  testbed = await openTestbed({
    config: {
      model: "scripted:default",
      models: { fast: "scripted:fast" },
      turn: { heartbeatSeconds: 1, maxAttempts: 1 },
    },
    env: { OPENAI_API_KEY: "sk-secret-streaming-0123456789" },
    scripts,
  });
});

afterAll(() => testbed?.stop());

type Frames = Awaited<ReturnType<typeof collectFrames>>;

const connect = (agent: TestAgent, query?: string, on = testbed) => collectFrames(on.host(), agent.at, query);
const pickRelayed = (frames: Frames) =>
  frames.filter((frame): frame is SubagentFrame => frame.type.startsWith("subagent_"));
const joinText = (frames: readonly SubagentFrame[], taskId: string) =>
  frames.map((frame) => (frame.type === "subagent_text_delta" && frame.taskId === taskId ? frame.delta : "")).join("");
const waitForEnd = (frames: Frames) =>
  waitUntil("the end of the turn", () => frames.some(({ type }) => type === "task-complete"));
const listSubagents = async (path: string) => (await testbed.api(`${path}/subagents`)).body.subagents;

test("clients of the parent see what a streaming sub-agent writes and calls, tagged with its task, and its report", async () => {
  const agent = await testbed.newAgent({ name: "ada" });
  const frames = await connect(agent);
  await agent.say("stream");
  await waitForEnd(frames);
  const [{ taskId }] = await listSubagents(agent.at);
  const relayed = pickRelayed(frames);
  expect(relayed.every((frame) => frame.taskId === taskId)).toBe(true);
  expect(joinText(relayed, taskId)).toBe(`First I look.${words}`);
  const others = relayed.filter(({ type }) => type !== "subagent_text_delta");
  expect(others).toEqual([
    { type: "subagent_tool_call", taskId, toolName: "writeFile", input: { path: "counted.md", content: "x" } },
    { type: "subagent_tool_result", taskId, toolName: "writeFile", output: expect.stringContaining("counted.md") },
    { type: "subagent_tool_call", taskId, toolName: "readFile", input: { path: "missing.md" } },
    { type: "subagent_tool_result", taskId, toolName: "readFile", output: expect.stringContaining("missing.md") },
    { type: "subagent_complete", taskId, result: words },
  ]);
  // Live, so in several pieces, but far fewer than the model wrote.
  const deltas = relayed.filter(({ type }) => type === "subagent_text_delta").length;
  expect(deltas).toBeGreaterThan(2);
  expect(deltas).toBeLessThan(60);
  // The report comes after everything it wrote, and before the turn goes on with it.
  expect(relayed.at(-1)?.type).toBe("subagent_complete");
  expect(frames.findIndex(({ type }) => type === "subagent_complete")).toBeLessThan(
    frames.findIndex(({ type }) => type === "tool_result"),
  );
});

test("nothing is streamed unless it was asked for", async () => {
  const agent = await testbed.newAgent({ name: "bea" });
  const frames = await connect(agent);
  await agent.say("silent");
  await waitForEnd(frames);
  expect(await listSubagents(agent.at)).toMatchObject([{ status: "complete" }]);
  expect(pickRelayed(frames)).toEqual([]);
});

test("clients that asked for events only get none, and those of the event stream get them with progress", async () => {
  const agent = await testbed.newAgent({ name: "cid" });
  const { url, token } = testbed.host();
  const open = (query: string) =>
    fetch(`${url}${agent.at}/events${query}`, {
      headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
    });
  const [events, withProgress, without] = await Promise.all([
    connect(agent, "?only=events"),
    open("?progress=1"),
    open(""),
  ]);
  const collect = async (response: Response) => {
    const types: string[] = [];
    for await (const { type } of readEvents(response)) {
      types.push(type);
      if (type === "agent.completed") break;
    }
    return types;
  };
  const read = Promise.all([collect(withProgress), collect(without)]);
  await agent.say("stream");
  const [shown, hidden] = await read;
  expect(shown).toContain("subagent_text_delta");
  expect(shown).toContain("subagent_tool_call");
  expect(hidden.filter((type) => type.startsWith("subagent_"))).toEqual([]);
  await waitUntil("the last event", () => events.some(({ type }) => type === "agent.completed"));
  expect(pickRelayed(events)).toEqual([]);
});

test("frames of a sub-agent further down go up, tagged with its own task, as far as everyone on the way streams", async () => {
  const agent = await testbed.newAgent({ name: "dan" });
  const frames = await connect(agent);
  await agent.say("nest");
  await waitForEnd(frames);
  const [child] = await listSubagents(agent.at);
  const [grandchild] = await listSubagents(`${agent.at}/sub/${child.facetName}`);
  const relayed = pickRelayed(frames);
  expect(joinText(relayed, child.taskId)).toBe("I ask.It said hush.");
  expect(joinText(relayed, grandchild.taskId)).toBe("hush");
  expect(relayed.filter(({ type }) => type === "subagent_complete")).toEqual([
    { type: "subagent_complete", taskId: grandchild.taskId, result: "hush" },
    { type: "subagent_complete", taskId: child.taskId, result: "It said hush." },
  ]);

  const other = await testbed.newAgent({ name: "eve" });
  const otherFrames = await connect(other);
  await other.say("hide");
  await waitForEnd(otherFrames);
  expect(pickRelayed(otherFrames)).toEqual([]);
});

test("a failure and a cancel are told as errors", async () => {
  const agent = await testbed.newAgent({ name: "fay" });
  const frames = await connect(agent);
  await agent.say("break");
  await waitForEnd(frames);
  const [{ taskId }] = await listSubagents(agent.at);
  expect(pickRelayed(frames).at(-1)).toEqual({
    type: "subagent_error",
    taskId,
    error: expect.stringMatching(/^The sub-agent failed: .*key/),
  });

  testbed.bell.onRing = () => new Promise(() => {});
  const held = await testbed.newAgent({ name: "gus" });
  const heldFrames = await connect(held);
  await held.invoke({ message: "hold" });
  await waitUntil("the call", () => pickRelayed(heldFrames).some(({ type }) => type === "subagent_tool_call"));
  await testbed.api(`${held.at}/cancel`, "POST", {});
  const end = await waitUntil("the error", () => pickRelayed(heldFrames).find(({ type }) => type === "subagent_error"));
  expect(end).toMatchObject({ error: "The sub-agent was cancelled." });
});

test("secrets are redacted, and a client that comes later sees what follows", async () => {
  const agent = await testbed.newAgent({ name: "hal" });
  const frames = await connect(agent);
  await agent.say("leak");
  await waitForEnd(frames);
  const [{ taskId }] = await listSubagents(agent.at);
  expect(joinText(pickRelayed(frames), taskId)).toMatch(/^The key is (?!sk-).+, sorry\.$/);
  expect(JSON.stringify(frames)).not.toContain("sk-secret-streaming");

  let letGoOn: (() => void) | undefined;
  testbed.bell.onRing = () => new Promise<void>((resolve) => (letGoOn = resolve));
  const late = await testbed.newAgent({ name: "ida" });
  await late.invoke({ message: "hold" });
  const goOn = await waitUntil("the ring", () => letGoOn);
  const lateFrames = await connect(late);
  await waitUntil("the history", () => lateFrames.some(({ type }) => type === "history"));
  goOn();
  await waitForEnd(lateFrames);
  const relayed = pickRelayed(lateFrames);
  expect(relayed.at(-1)).toMatchObject({ type: "subagent_complete", result: "After." });
  expect(JSON.stringify(relayed)).not.toContain("Before.");
});

test("a stream goes on after main is killed", async () => {
  const rings: (() => void)[] = [];
  testbed.bell.onRing = () => new Promise<void>((resolve) => void rings.push(resolve));
  const agent = await testbed.newAgent({ name: "jon" });
  await agent.invoke({ message: "hold" });
  await waitUntil("the ring", () => rings[0]);
  await testbed.restartMain();
  const frames = await connect(agent);
  (await waitUntil("the ring after the restart", () => rings[1]))();
  await waitForEnd(frames);
  const [{ taskId }] = await listSubagents(agent.at);
  expect(pickRelayed(frames).at(-1)).toEqual({ type: "subagent_complete", taskId, result: "After." });
});

test("POST subagents/spawn streams too, /run and /serve reach a sub-agent, and the host sets throttle and tool events", async () => {
  const slow = await openTestbed({
    config: {
      model: "scripted:default",
      models: { fast: "scripted:fast" },
      subagents: { streamThrottleMs: 60_000, broadcastToolCalls: false },
    },
    scripts,
  });
  try {
    const agent = await slow.newAgent({ name: "kim" });
    const frames = await connect(agent, "", slow);
    const created = await slow.api(`${agent.at}/tasks`, "POST", { title: "count" });
    const spawn = { taskId: created.body.taskId, streaming: true };
    const { facetName, taskId } = (await slow.api(`${agent.at}/subagents/spawn`, "POST", spawn)).body;
    await waitUntil("the report", () => pickRelayed(frames).some(({ type }) => type === "subagent_complete"));
    const relayed = pickRelayed(frames);
    expect(joinText(relayed, taskId)).toBe(`First I look.${words}`);
    // One batch at once, and one before the report.
    expect(relayed.map(({ type }) => type)).toEqual([
      "subagent_text_delta",
      "subagent_text_delta",
      "subagent_complete",
    ]);

    const target = `kim/${facetName}`;
    const served = await slow.api("/serve", "POST", { agent: target, message: "whisper" });
    expect([served.status, served.body]).toMatchObject([200, { content: "hush", outcomes: [{ agent: target }] }]);
    const run = await slow.api("/run", "POST", { agent: target, message: "whisper" });
    expect(run.body).toContain(`"agent":"${target}"`);
    expect(run.body).toMatch(/event: chunk\n[^]*hush[^]*event: done/);
    const missing = await slow.api("/serve", "POST", { agent: "kim/nobody", message: "hi" });
    expect([missing.status, missing.body.error.message]).toEqual([404, "Sub-agent “nobody” not found."]);
    // Its assignment is over, so what it does now is not streamed.
    expect(pickRelayed(frames)).toHaveLength(3);
  } finally {
    await slow.stop();
  }
});
