import { expect, test } from "vitest";
import type { AgentEvent, EventData, EventType } from "../protocol/event.ts";
import { TurnReader } from "./turn-event.ts";

let seq = 0;
function createEvent<T extends EventType>(type: T, data: EventData[T]): AgentEvent {
  return { type, data, seq: ++seq, ts: "", threadId: "t" } as AgentEvent;
}

const createStarted = (runId: string, messageId: string) =>
  createEvent("model.started", { runId, step: 1, messageId, model: "x:y", attempt: 1 });
const createDelta = (runId: string, delta: string, reasoning?: string) =>
  createEvent("model.delta", { runId, delta, ...(reasoning ? { reasoning } : {}) });
const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };
const createCompleted = (
  runId: string,
  messageId: string,
  toolCalls: { id: string; name: string; input: unknown }[] = [],
) =>
  createEvent("model.completed", { runId, step: 1, messageId, model: "x:y", finish: "stop", usage, ms: 1, toolCalls });
const createEnd = (runId: string, result: string) => createEvent("agent.completed", { runId, result });

const read = (reader: TurnReader, ...events: AgentEvent[]) => events.flatMap((event) => reader.read(event));

test("the events of a turn are read from the log, without those of other turns", () => {
  const reader = new TurnReader("alice", "r", "q");
  const result = { callId: "c", name: "clock", summary: "noon", preview: "noon", size: 4 };
  const events = read(
    reader,
    createDelta("other", "not mine"),
    createEvent("run.started", { runId: "r", model: "x:y", boot: "b" }),
    createStarted("r", "m1"),
    createDelta("r", "Let me ", "hm"),
    createDelta("other", "nor this"),
    createCompleted("r", "m1", [
      { id: "c", name: "clock", input: {} },
      { id: "d", name: "nope", input: 1 },
    ]),
    createEvent("tool.output", {
      runId: "r",
      callId: "c",
      toolName: "clock",
      messageId: "t1",
      output: "noon",
      result,
      ms: 1,
      action: "a",
    }),
    createEvent("tool.error", {
      runId: "r",
      callId: "d",
      toolName: "nope",
      messageId: "t2",
      error: "no",
      errorCode: "unknown_tool",
      ms: 1,
      action: "a",
    }),
    createStarted("r", "m2"),
    createDelta("r", "Noon."),
    createCompleted("r", "m2"),
    createEnd("other", "Not mine."),
  );
  expect(events).toEqual([
    { type: "started", model: "x:y" },
    { type: "reasoning", text: "hm", messageId: "m1" },
    { type: "text", text: "Let me ", messageId: "m1" },
    { type: "tool_call", call: { id: "c", name: "clock", input: {} } },
    { type: "tool_call", call: { id: "d", name: "nope", input: 1 } },
    { type: "tool_result", callId: "c", name: "clock", output: "noon" },
    { type: "tool_result", callId: "d", name: "nope", output: "no", failed: true },
    { type: "text", text: "Noon.", messageId: "m2" },
  ]);
  expect(reader.outcome).toBeUndefined();
  expect(read(reader, createEnd("r", "Noon."))).toEqual([]);
  expect(reader.outcome).toMatchObject({
    runId: "r",
    agent: "alice",
    status: "completed",
    content: "Noon.",
    toolCalls: [
      { id: "c", output: "noon" },
      { id: "d", failed: true },
    ],
  });
});

test("progress and calls made by code are yielded with their call, without those of other turns", () => {
  const reader = new TurnReader("alice", "r", "q");
  const progress = (runId: string, text: string) => ({ type: "tool_progress", callId: "c", text, runId }) as const;
  const called = (runId: string) =>
    createEvent("capability.called", {
      runId,
      step: 1,
      parentCallId: "c",
      callId: "c.1",
      toolName: "fetch",
      args: { url: "x" },
    });
  const answered = (runId: string) =>
    createEvent("capability.answered", {
      runId,
      parentCallId: "c",
      callId: "c.1",
      toolName: "fetch",
      ms: 7,
      action: "fetch",
      summary: "GET x → 200",
    });
  const events = [
    progress("other", "no"),
    progress("r", "one\n"),
    progress("r", ""),
    called("other"),
    called("r"),
    answered("other"),
    answered("r"),
  ].flatMap((event) => reader.read(event));
  expect(events).toEqual([
    { type: "progress", callId: "c", text: "one\n" },
    {
      type: "capability",
      callId: "c",
      capability: { id: "c.1", name: "fetch", input: '{"url":"x"}', state: "running", seq: expect.any(Number) },
    },
    {
      type: "capability",
      callId: "c",
      capability: {
        id: "c.1",
        name: "fetch",
        input: '{"url":"x"}',
        state: "done",
        seq: expect.any(Number),
        ms: 7,
        summary: "GET x → 200",
      },
    },
  ]);
});

test("text that a provider failure or a crash voided is discarded, once, and only if there was any", () => {
  const reader = new TurnReader("alice", "r", "q");
  const failed = (retryInMs?: number) =>
    createEvent("model.failed", {
      runId: "r",
      step: 1,
      attempt: 1,
      kind: "overloaded",
      error: "busy",
      ...(retryInMs ? { retryInMs } : {}),
    });
  const resumed = () =>
    createEvent("run.resumed", { runId: "r", reason: "recovered", attempt: 1, crashes: 1, boot: "b" });
  expect(read(reader, createStarted("r", "m1"), createDelta("r", "one"), failed(50))).toEqual([
    { type: "text", text: "one", messageId: "m1" },
    { type: "discarded", messageId: "m1" },
    { type: "retrying", error: "busy", attempt: 1, inMs: 50 },
  ]);
  expect(read(reader, createStarted("r", "m2"), failed())).toEqual([]);
  expect(read(reader, createStarted("r", "m3"), createDelta("r", "uno"), resumed(), resumed())).toEqual([
    { type: "text", text: "uno", messageId: "m3" },
    { type: "discarded", messageId: "m3" },
  ]);
  expect(read(reader, createStarted("r", "m4"), createCompleted("r", "m4"), resumed())).toEqual([]);
});

test("a message that joined a turn follows its next steps, and then the turn in which it ends up", () => {
  const reader = new TurnReader("alice", "first", "q2");
  expect(
    read(
      reader,
      createDelta("first", "of the step before"),
      createCompleted("first", "m1"),
      createStarted("first", "m2"),
      createDelta("first", "Hm"),
    ),
  ).toEqual([{ type: "text", text: "Hm", messageId: "m2" }]);
  const requeued = read(
    reader,
    createEvent("message.requeued", { runId: "elsewhere", fromRunId: "first", messageIds: ["q9"] }),
    createEvent("message.requeued", { runId: "second", fromRunId: "first", messageIds: ["q2"] }),
    createEvent("run.canceled", { runId: "first" }),
  );
  expect(requeued).toEqual([{ type: "discarded", messageId: "m2" }]);
  expect([reader.runId, reader.outcome]).toEqual(["second", undefined]);
  read(
    reader,
    createStarted("second", "m3"),
    createDelta("second", "Yes"),
    createCompleted("second", "m3"),
    createEnd("second", "Yes"),
  );
  expect(reader.outcome).toMatchObject({ runId: "second", content: "Yes", usage: { inputTokens: 1 } });
});
