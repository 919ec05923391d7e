import { expect, test } from "vitest";
import type { AgentEvent, NewEvent } from "../protocol/event.ts";
import { findOutcome } from "./outcome.ts";

const log = (...events: NewEvent[]) =>
  events.map((event, index) => ({ ...event, seq: index + 1, ts: "", threadId: "t" }) as AgentEvent);

const usage = (costUsd: number | null) => ({ inputTokens: 10, outputTokens: 2, costUsd });
const call = { id: "c", name: "bash", input: { command: "ls" } };
const completed = (runId: string, costUsd: number | null, toolCalls: (typeof call)[] = []): NewEvent => ({
  type: "model.completed",
  data: { runId, step: 1, messageId: "m", model: "x:y", finish: "stop", usage: usage(costUsd), ms: 1, toolCalls },
});
const output: NewEvent = {
  type: "tool.error",
  data: {
    runId: "r",
    callId: "c",
    toolName: "bash",
    messageId: "t",
    error: "no such file",
    errorCode: "threw",
    ms: 1,
    action: "a",
  },
};

test("the outcome of a turn is computed from its own events only", () => {
  const done: NewEvent = { type: "agent.completed", data: { runId: "r", result: "Done." } };
  const other: NewEvent = { type: "agent.completed", data: { runId: "other", result: "Not mine." } };
  const events = log(
    completed("r", 0.5, [call]),
    completed("other", null, [{ ...call, id: "d" }]),
    output,
    other,
    completed("r", 0.25),
    done,
  );
  expect(findOutcome(events, "r", "alice")).toEqual({
    runId: "r",
    agent: "alice",
    status: "completed",
    content: "Done.",
    toolCalls: [{ ...call, output: "no such file", failed: true }],
    usage: { inputTokens: 20, outputTokens: 4, costUsd: 0.75 },
  });
  expect(findOutcome(events.slice(0, -1), "r", "alice")).toBeUndefined();
});

test("one unknown price makes the cost unknown", () => {
  const done: NewEvent = { type: "agent.completed", data: { runId: "r", result: "" } };
  expect(findOutcome(log(completed("r", null), completed("r", 1), done), "r", "a")?.usage.costUsd).toBe(null);
});

test("a failed turn keeps its code and the text so far", () => {
  const started: NewEvent = {
    type: "model.started",
    data: { runId: "r", step: 1, messageId: "m", model: "x:y", attempt: 1 },
  };
  const createDelta = (delta: string): NewEvent => ({ type: "model.delta", data: { runId: "r", delta } });
  const failed = (code: "model_auth"): NewEvent => ({
    type: "agent.error",
    data: { runId: "r", error: "No.", code, advice: "Do." },
  });
  const outcome = findOutcome(
    log(started, createDelta("lost"), started, createDelta("I was "), createDelta("saying"), failed("model_auth")),
    "r",
    "a",
  );
  expect(outcome).toMatchObject({
    status: "error",
    content: "I was saying",
    failure: { code: "model_auth", message: "No.", advice: "Do." },
  });
  const canceled = findOutcome(log({ type: "run.canceled", data: { runId: "r" } }), "r", "a");
  expect(canceled?.status).toBe("canceled");
});
