import type { NewEvent } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { createRandom } from "../kit/random.ts";
import { createEventGenerator } from "./event-generator.ts";
import type { PlaybackStep } from "./projection-playback.ts";
import { expectAgreement, readTurn, showOnPage, usePlayback } from "./projection-views.ts";

// All presentations of one log agree: the socket, `/run`, the client, the page, the CLI and the server.

const play = usePlayback();

const accept = (runId: string, id: string, joined = false): NewEvent => ({
  type: "request.accepted",
  data: {
    runId,
    idempotencyKey: id,
    mode: joined ? "steer" : "queue",
    ...(joined ? { joined } : {}),
    position: 0,
    from: { user: "owner", context: {} },
    messages: [{ id, role: "user", content: id }],
  },
});
const start = (runId: string): NewEvent => ({ type: "run.started", data: { runId, model: "x:y", boot: "b" } });
const begin = (runId: string, messageId: string, step = 1): NewEvent => ({
  type: "model.started",
  data: { runId, step, messageId, model: "x:y", attempt: 1 },
});
const text = (runId: string, delta: string): NewEvent => ({ type: "model.delta", data: { runId, delta } });
const usage = { inputTokens: 3, outputTokens: 2, costUsd: 0.5 };
const complete = (runId: string, messageId: string, calls: string[] = [], step = 1): NewEvent => ({
  type: "model.completed",
  data: {
    runId,
    step,
    messageId,
    model: "x:y",
    finish: "stop",
    usage,
    ms: 1,
    toolCalls: calls.map((id) => ({ id, name: "echo", input: { id } })),
  },
});
const settle = (runId: string, callId: string, output: string): NewEvent => ({
  type: "tool.output",
  data: {
    runId,
    callId,
    toolName: "echo",
    messageId: `${callId}-m`,
    output,
    result: { callId, name: "echo", summary: output, preview: output, size: output.length },
    ms: 1,
    action: "echo",
  },
});
const finish = (runId: string, result: string): NewEvent => ({ type: "agent.completed", data: { runId, result } });
const cancel = (runId: string): NewEvent => ({ type: "run.canceled", data: { runId, reason: "canceled" } });
const resume = (runId: string): NewEvent => ({
  type: "run.resumed",
  data: { runId, reason: "recovered", attempt: 1, crashes: 1, boot: "c" },
});
const fail = (runId: string, retryInMs?: number): NewEvent => ({
  type: "model.failed",
  data: {
    runId,
    step: 1,
    attempt: 1,
    kind: "overloaded",
    error: "busy",
    ...(retryInMs === undefined ? {} : { retryInMs }),
  },
});

const toSteps = (...events: NewEvent[]): PlaybackStep[] =>
  events.map((event) => ({ events: [event], store: true, flush: true }));

const logs: Record<string, PlaybackStep[]> = {
  "a turn with a tool": toSteps(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "Let me "),
    text("r", "look."),
    complete("r", "a", ["c"]),
    settle("r", "c", "noon"),
    begin("r", "b", 2),
    text("r", "Noon."),
    complete("r", "b", [], 2),
    finish("r", "Noon."),
  ),
  "a retry": toSteps(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "one"),
    fail("r", 5),
    begin("r", "b"),
    text("r", "uno"),
    complete("r", "b"),
    finish("r", "uno"),
  ),
  "a retry with another text under the same id": toSteps(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "one"),
    fail("r", 5),
    begin("r", "a"),
    text("r", "uno"),
    text("r", " dos"),
    complete("r", "a"),
    finish("r", "uno dos"),
  ),
  "a failure after retries": toSteps(accept("r", "q"), start("r"), begin("r", "a"), text("r", "one"), fail("r"), {
    type: "agent.error",
    data: { runId: "r", error: "Busy.", code: "model_overloaded", advice: "Wait." },
  }),
  "a recovery": toSteps(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "one two"),
    resume("r"),
    begin("r", "b"),
    text("r", "one two three"),
    complete("r", "b"),
    finish("r", "one two three"),
  ),
  "a cancelation in mid-sentence": toSteps(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "I was "),
    text("r", "saying"),
    cancel("r"),
  ),
  "a cancelation before the second message has text": toSteps(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "First."),
    complete("r", "a", ["c"]),
    settle("r", "c", "x"),
    begin("r", "b", 2),
    cancel("r"),
  ),
  "a cancelation between a failed call and its retry": toSteps(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "void"),
    fail("r", 500),
    cancel("r"),
  ),
  "a cancelation right after a recovery": toSteps(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "void"),
    resume("r"),
    cancel("r"),
  ),
  "a message that joins a turn": toSteps(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "Going"),
    accept("r", "q2", true),
    complete("r", "a"),
    { type: "message.delivered", data: { runId: "r", messageIds: ["q2"] } },
    begin("r", "b", 2),
    text("r", "Left"),
    complete("r", "b", [], 2),
    finish("r", "Left"),
  ),
  "a message that joins too late": toSteps(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "Going"),
    accept("r", "q2", true),
    { type: "message.requeued", data: { runId: "s", fromRunId: "r", messageIds: ["q2"] } },
    cancel("r"),
    start("s"),
    begin("s", "b"),
    text("s", "Yes"),
    complete("s", "b"),
    finish("s", "Yes"),
  ),
  "a queued turn that is canceled": toSteps(
    accept("r", "q"),
    start("r"),
    begin("r", "a"),
    text("r", "One"),
    accept("s", "q2"),
    cancel("s"),
    text("r", " more"),
    complete("r", "a"),
    finish("r", "One more"),
  ),
  "a connection that is lost in mid-sentence": [
    ...toSteps(accept("r", "q"), start("r"), begin("r", "a"), text("r", "one ")),
    { connection: "lost" },
    ...toSteps(
      text("r", "two "),
      complete("r", "a", ["c"]),
      settle("r", "c", "x"),
      begin("r", "b", 2),
      text("r", "three "),
    ),
    { connection: "open" },
    ...toSteps(text("r", "four"), complete("r", "b", [], 2), finish("r", "three four")),
  ],
};

test.each(Object.entries(logs))("all presentations of %s agree", async (name, steps) => {
  const playback = await play(name, steps);
  expect(expectAgreement(playback, name)).toBeGreaterThan(0);
});

test("a reader follows a message that moves to another turn", async () => {
  const playback = await play("followed", logs["a message that joins too late"]!);
  const { reader, texts } = readTurn(playback, "r", "q2");
  expect(reader.outcome).toMatchObject({ runId: "s", status: "completed", content: "Yes" });
  expect([...texts.values()]).toEqual(["Yes"]);
  expect(showOnPage(playback).entries.find(({ id }) => id === "q2")).toMatchObject({ runId: "s", stage: "done" });
});

test("all presentations of random histories agree", async () => {
  const chance = createRandom("projections");
  let turns = 0;
  for (let history = 0; history < 25; history++) {
    const generator = createEventGenerator(chance);
    const steps: PlaybackStep[] = [];
    const addEvents = (events: NewEvent[]) =>
      steps.push({ events, store: chance.chance(0.3), flush: chance.chance(0.5) });
    // Few enough that one history frame contains all messages.
    for (let step = 0; step < 60; step++) {
      addEvents(generator.next());
      if (chance.chance(0.04)) {
        const resumed = generator.resume();
        if (resumed.length > 0) addEvents(resumed);
      }
      if (chance.chance(0.05)) {
        steps.push({ connection: "lost" });
        for (let missed = chance.below(6); missed > 0; missed--) addEvents(generator.next());
        steps.push({ connection: "open" });
      }
    }
    for (let events = generator.finish(); events.length > 0; events = generator.finish()) addEvents(events);
    const playback = await play(`history-${history}`, steps);
    turns += expectAgreement(playback, `history ${history}`);
  }
  expect(turns).toBeGreaterThan(25);
});
