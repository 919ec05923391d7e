import { expect, test } from "vitest";
import type { AgentEvent, EventData } from "../protocol/event.ts";
import type { Subagent } from "../protocol/subagent.ts";
import { emptyConversation } from "./conversation.ts";
import { receive } from "./receive.ts";
import { mergeSubagents, type SubagentEvent } from "./subagents.ts";

let seq = 0;

function createEvent<T extends SubagentEvent["type"]>(
  type: T,
  taskId: string,
  data: Partial<EventData[T]> = {},
): AgentEvent {
  const ts = new Date(1000 * ++seq).toISOString();
  const child = { taskId, childThreadId: `global~alice/subagent-${taskId}` };
  return { seq, ts, threadId: "global~alice", type, data: { ...child, ...data } } as AgentEvent;
}

const spawn = (taskId: string, data: Partial<EventData["subagent.spawned"]> = {}) =>
  createEvent("subagent.spawned", taskId, {
    facetName: `subagent-${taskId}`,
    agentType: "tester",
    title: taskId,
    wait: true,
    workspace: "shared",
    ...data,
  });

const usage = { calls: 1, inputTokens: 2, outputTokens: 3, costUsd: 0 };

test("sub-agents follow their events, the newest first", () => {
  const spawned = [spawn("a", { callId: "c1" }), spawn("b", { queued: true })];
  const { subagents } = [...spawned, ...spawned].reduce(receive, emptyConversation);
  expect(subagents).toMatchObject([
    { taskId: "b", status: "waiting" },
    { taskId: "a", status: "running", callId: "c1", facetName: "subagent-a", startedAt: expect.any(Number) },
  ]);
  expect(subagents[0]).not.toHaveProperty("startedAt");
  const later = [
    createEvent("subagent.started", "b"),
    createEvent("subagent.action", "b", { toolName: "listFiles", input: "{}", usage }),
    createEvent("subagent.action", "b", { toolName: "readFile", input: '{"path":"a.md"}' }),
    createEvent("subagent.completed", "a", { status: "failed", error: "No key.", usage, steps: 1 }),
    createEvent("subagent.action", "unknown", { toolName: "readFile", input: "{}" }),
  ].reduce(receive, { ...emptyConversation, subagents });
  expect(later.subagents).toMatchObject([
    { taskId: "b", status: "running", activity: 'readFile {"path":"a.md"}', usage },
    { taskId: "a", status: "failed", error: "No key.", usage, completedAt: expect.any(Number) },
  ]);
  const cleared: AgentEvent = {
    seq: ++seq,
    ts: new Date(0).toISOString(),
    threadId: "a",
    type: "history.cleared",
    data: {},
  } as never;
  expect(receive(later, cleared).subagents).toEqual([]);
});

test("one that waits for a person says so until it goes on or ends", () => {
  const started = [spawn("a"), spawn("b", { queued: true })].reduce(receive, emptyConversation);
  const waiting = [
    createEvent("subagent.waiting", "a", { waitingFor: "approval" }),
    createEvent("subagent.waiting", "b", { waitingFor: "approval" }),
  ].reduce(receive, started);
  expect(waiting.subagents).toMatchObject([{ taskId: "b" }, { status: "waiting", waitingFor: "approval" }]);
  expect(waiting.subagents[0]).not.toHaveProperty("waitingFor");
  for (const [event, status] of [
    [createEvent("subagent.waiting", "a"), "running"],
    [createEvent("subagent.completed", "a", { status: "cancelled", usage, steps: 1 }), "cancelled"],
  ] as const) {
    const [, subagent] = receive(waiting, event).subagents;
    expect(subagent).toMatchObject({ taskId: "a", status });
    expect(subagent).not.toHaveProperty("waitingFor");
  }
});

test("a fork has a branch from its start until it is merged, and longer if it is not", () => {
  const create = (isMerged: boolean) => ({ branch: "subagent-a", into: "main", isMerged, changes: [], overlaps: [] });
  const queued = [spawn("a", { workspace: "fork", queued: true })].reduce(receive, emptyConversation);
  expect(queued.subagents[0]).not.toHaveProperty("branch");
  const merging = [createEvent("subagent.started", "a"), createEvent("subagent.reported", "a")].reduce(receive, queued);
  expect(merging.subagents).toMatchObject([
    { status: "running", branch: "subagent-a", activity: "Merging its branch" },
  ]);
  const end = (isMerged: boolean) =>
    [
      createEvent("subagent.completed", "a", { status: "complete", usage, merge: create(isMerged) }),
      createEvent("subagent.closed", "a"),
    ].reduce(receive, merging).subagents[0];
  expect(end(true)).toMatchObject({ status: "complete", merge: create(true) });
  expect(end(true)).not.toHaveProperty("branch");
  expect(end(false)).toMatchObject({ branch: "subagent-a", merge: create(false) });
  const cancelled = [
    createEvent("subagent.completed", "a", { status: "cancelled", usage }),
    createEvent("subagent.closed", "a", { merge: create(false) }),
  ].reduce(receive, merging);
  expect(cancelled.subagents).toMatchObject([{ status: "cancelled", branch: "subagent-a", merge: create(false) }]);
});

test("a list that was loaded meanwhile neither hides newer ones nor reopens those that ended", () => {
  const create = (taskId: string, part: Partial<Subagent> = {}) => ({ taskId, status: "running", ...part }) as Subagent;
  const ended = create("b", { status: "complete", completedAt: 5 });
  const merged = mergeSubagents([create("c"), ended], [create("b"), create("a", { activity: "ls" })]);
  expect(merged).toEqual([create("c"), ended, create("a", { activity: "ls" })]);
  expect(mergeSubagents([create("b")], [ended])).toEqual([ended]);
});

test("reports are a message in their place, once", () => {
  const content = '<subagent_report task="a" type="tester" status="complete">\nDone.\n</subagent_report>';
  const data = { runId: "r", step: 2, taskIds: ["a"], messageId: "m1", content };
  const event = { seq: 7, ts: new Date(5000).toISOString(), threadId: "a", type: "subagent.delivered", data } as const;
  const conversation = [event, event].reduce(receive, emptyConversation);
  expect(conversation.entries).toMatchObject([
    { id: "m1", role: "user", stage: "done", text: content, runId: "r", notice: true },
  ]);
  const { content: _, messageId: __, ...rest } = data;
  expect(receive(emptyConversation, { ...event, data: { ...rest, callId: "c" } }).entries).toEqual([]);
});

test("the stream of a sub-agent shows its last message and its open calls, until it has finished", () => {
  const text = (delta: string, taskId = "a") => ({ type: "subagent_text_delta", taskId, delta }) as const;
  const call = (toolName: string, input: unknown) =>
    ({ type: "subagent_tool_call", taskId: "a", toolName, input }) as const;
  const result = (toolName: string) => ({ type: "subagent_tool_result", taskId: "a", toolName, output: "ok" }) as const;
  const show = (...frames: Parameters<typeof receive>[1][]) =>
    frames.reduce(receive, emptyConversation).subagentStreams;
  const begin = [text("I "), text("look."), call("bash", 1), call("readFile", 2), call("bash", 3), text("deep", "b")];
  expect(show(...begin)).toEqual({
    a: {
      text: "I look.",
      calls: [
        { toolName: "bash", input: 1 },
        { toolName: "readFile", input: 2 },
        { toolName: "bash", input: 3 },
      ],
      isMessageOver: true,
    },
    b: { text: "deep", calls: [], isMessageOver: false },
  });
  const later = [...begin, result("bash"), result("readFile"), text("So.")];
  expect(show(...later).a).toEqual({ text: "So.", calls: [{ toolName: "bash", input: 3 }], isMessageOver: false });
  expect(show(text("x".repeat(5000))).a?.text).toHaveLength(2000);
  // Either of the two comes first.
  expect(Object.keys(show(...later, { type: "subagent_complete", taskId: "a", result: "So." }))).toEqual(["b"]);
  const completed = createEvent("subagent.completed", "a", { status: "complete", usage, steps: 1 });
  expect(Object.keys(show(...later, completed))).toEqual(["b"]);
  const state = { status: "idle", run: { runId: "", status: "idle", step: 0 }, queued: 0 } as const;
  expect(show(...later, { type: "sync", state, last: 9 })).toEqual({});
});

test("an action tells the step", () => {
  const events = [spawn("s"), createEvent("subagent.action", "s", { toolName: "bash", input: "{}", step: 3 })];
  expect(events.reduce(receive, emptyConversation).subagents).toMatchObject([{ taskId: "s", step: 3 }]);
});
