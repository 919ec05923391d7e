import { expect, test } from "vitest";
import type { AgentEvent, EventData, EventType } from "../protocol/event.ts";
import type { ChatFrame } from "../protocol/frame.ts";
import { toUpdates, eventToUpdates, frameToUpdates } from "./update.ts";

const event = <T extends EventType>(type: T, data: EventData[T]) =>
  ({ type, data, seq: 1, ts: "", threadId: "t" }) as AgentEvent;

const result = { callId: "c", name: "bash", summary: "ok", preview: "ok", size: 2 };
const settled = { runId: "r", callId: "c", toolName: "bash", messageId: "m", ms: 1, action: "a" };

const pairs: [AgentEvent, ChatFrame][] = [
  [event("run.canceled", { runId: "r" }), { type: "task-canceled", taskId: "r" }],
  [event("agent.completed", { runId: "r", result: "x" }), { type: "task-complete", taskId: "r" }],
  [
    event("agent.error", { runId: "r", error: "No.", code: "budget" }),
    { type: "task-failed", taskId: "r", error: "No.", attempts: 1 },
  ],
  [
    event("tool.output", { ...settled, output: "ok", result }),
    { type: "tool_result", callId: "c", name: "bash", output: "ok", runId: "r" },
  ],
  [
    event("tool.error", { ...settled, error: "no", errorCode: "threw" }),
    { type: "tool_result", callId: "c", name: "bash", output: "no", failed: true, runId: "r" },
  ],
  [
    event("model.failed", { runId: "r", step: 1, attempt: 2, kind: "overloaded", error: "busy", retryInMs: 5 }),
    { type: "task-retrying", taskId: "r", error: "busy", attempt: 2, retryIn: 5 },
  ],
];

test.each(pairs)(
  "$type and the frame that repeats it have the same updates, and a reader of both gets them once",
  (event, frame) => {
    const [fromEvent, fromFrame] = [eventToUpdates(event), frameToUpdates(frame)];
    expect(fromFrame.length).toBeGreaterThan(0);
    // A frame may contain less.
    expect(fromEvent).toMatchObject(JSON.parse(JSON.stringify(fromFrame)));
    const both = [...toUpdates(event), ...toUpdates(frame)].filter(({ kind }) => kind !== "draft-discarded");
    expect(both).toEqual(fromFrame.filter(({ kind }) => kind !== "draft-discarded"));
  },
);

test("the text of an unfinished message is void after a failed call and after a restart", () => {
  const discarded = { kind: "draft-discarded", runId: "r" };
  expect(
    eventToUpdates(event("run.resumed", { runId: "r", reason: "recovered", attempt: 1, crashes: 1, boot: "b" })),
  ).toContainEqual(discarded);
  expect(eventToUpdates(event("model.failed", { runId: "r", step: 1, attempt: 1, kind: "auth", error: "no" }))).toEqual(
    [discarded],
  );
  expect(eventToUpdates(event("run.paused", { runId: "r", reason: "deferred" }))).not.toContainEqual(discarded);
});

test("text that comes in frames is not read again from the log", () => {
  const delta = event("model.delta", { runId: "r", delta: "hi" });
  expect(eventToUpdates(delta)).toEqual([{ kind: "draft-text", runId: "r", text: "hi", reasoning: "" }]);
  expect(toUpdates(delta)).toEqual([]);
  expect(toUpdates({ type: "text_delta", delta: "hi", messageId: "m" })).toHaveLength(1);
});

test("events that do not concern the conversation have no updates", () => {
  expect(eventToUpdates(event("agent.started", { runId: "r" }))).toEqual([]);
  expect(
    eventToUpdates({ ...event("agent.started", { runId: "r" }), type: "made.up" } as unknown as AgentEvent),
  ).toEqual([]);
});
