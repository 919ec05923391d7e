import { expect, test } from "vitest";
import type { ChatFrame } from "../protocol/frame.ts";
import type { Message } from "../protocol/message.ts";
import { AgentDouble } from "./agent-double.ts";
import { emptyConversation, type Conversation } from "./conversation.ts";
import { ReaderDouble, runTurns } from "./reader-double.ts";
import { removeMessage, receive, addUnsent } from "./receive.ts";

const listTexts = ({ entries }: Conversation) => entries.map(({ text }) => text);
const listStages = ({ entries }: Conversation) => entries.map(({ id, stage }) => `${id} ${stage}`);

function openReader(): { agent: AgentDouble; reader: ReaderDouble } {
  const agent = new AgentDouble();
  return { agent, reader: new ReaderDouble(agent) };
}

test("a turn with a tool is shown as it happens", () => {
  const { agent, reader } = openReader();
  reader.now = addUnsent(reader.now, "q1", "What is the time?", 5);
  expect(listStages(reader.now)).toEqual(["q1 unsent"]);
  agent.say("q1", "What is the time?", "queue");
  expect(listStages(reader.now)).toEqual(["q1 done"]);
  agent.startStep();
  agent.stream("Let me ", "hm");
  agent.stream("look.", "");
  expect(listTexts(reader.now)).toEqual(["What is the time?", "Let me look."]);
  agent.finishStep(["clock"]);
  expect(reader.now.entries[1]?.calls).toMatchObject([{ name: "clock", input: { name: "clock" } }]);
  expect(reader.now.entries[1]?.calls[0]?.result).toBeUndefined();
  agent.answerTool("noon", false);
  expect(reader.now.entries[1]?.calls[0]?.result).toMatchObject({ output: "noon", failed: false });
  agent.startStep();
  agent.stream("It is noon.", "");
  expect(reader.now.run).toBeDefined();
  agent.finishStep([]);
  expect(listTexts(reader.now)).toEqual(["What is the time?", "Let me look.", "It is noon."]);
  expect(reader.now).toMatchObject({
    state: { status: "idle" },
    run: undefined,
    turnsSeen: 1,
    lastSaid: { text: "It is noon." },
  });
});

test("a connection lost in mid-sentence neither loses nor doubles a word", () => {
  const { agent, reader } = openReader();
  agent.say("q1", "Count.", "queue");
  agent.startStep();
  agent.stream("one two ", "");
  reader.leave();
  agent.stream("three four ", "");
  reader.connect();
  expect(listTexts(reader.now)).toEqual(["Count.", "one two three four "]);
  agent.stream("five", "");
  expect(listTexts(reader.now)).toEqual(["Count.", "one two three four five"]);
});

test("what was said in a step that a crash or a failing provider undid is gone", () => {
  const { agent, reader } = openReader();
  agent.say("q1", "Count.", "queue");
  agent.startStep();
  agent.stream("one two", "thinking");
  agent.retryStep();
  expect(reader.now.retry).toBeUndefined();
  expect(listTexts(reader.now)).toEqual(["Count.", ""]);
  agent.stream("eins", "");
  agent.nap();
  expect(listTexts(reader.now)).toEqual(["Count."]);
  agent.startStep();
  agent.stream("un", "");
  agent.crash();
  reader.connect();
  expect(listTexts(reader.now)).toEqual(["Count."]);
  agent.startStep();
  agent.stream("uno", "");
  agent.finishStep([]);
  expect(listTexts(reader.now)).toEqual(["Count.", "uno"]);
});

test("a retry is told with its reason until the model speaks again", () => {
  const retrying: ChatFrame = {
    type: "task-retrying",
    taskId: "run-1",
    error: "overloaded",
    attempt: 1,
    retryIn: 4000,
  };
  const { agent, reader } = openReader();
  agent.say("q1", "Hi", "queue");
  agent.startStep();
  reader.receive(retrying);
  reader.receive({ type: "status", status: "thinking" });
  expect(reader.now.retry).toEqual({ error: "overloaded", attempt: 1, inMs: 4000 });
  agent.stream("Hello", "");
  expect(reader.now.retry).toBeUndefined();
});

test("questions wait in line behind the turn that runs, and the answer stands with its question", () => {
  const { agent, reader } = openReader();
  agent.say("q1", "first", "queue");
  agent.startStep();
  agent.stream("one", "");
  agent.say("q2", "second", "queue");
  reader.now = addUnsent(reader.now, "q3", "third", 1);
  expect(listStages(reader.now)).toEqual(["q1 done", "message-2 streaming", "q2 waiting", "q3 unsent"]);
  agent.say("q3", "third", "interrupt");
  agent.startStep();
  agent.stream("three", "");
  expect(listTexts(reader.now)).toEqual(["first", "one", "third", "three", "second"]);
  expect(listStages(reader.now)).toMatchObject([
    "q1 done",
    "message-2 canceled",
    "q3 done",
    expect.stringContaining("streaming"),
    "q2 waiting",
  ]);
});

test("a message that joins a turn gets its place before the next step", () => {
  const { agent, reader } = openReader();
  agent.say("q1", "Go.", "queue");
  agent.startStep();
  agent.stream("Going", "");
  agent.say("q2", "Left!", "steer");
  expect(listStages(reader.now).at(-1)).toBe("q2 waiting");
  agent.finishStep(["turn"]);
  agent.answerTool("ok", false);
  agent.startStep();
  expect(listTexts(reader.now)).toEqual(["Go.", "Going", "Left!", ""]);
  expect(reader.now.entries[2]?.stage).toBe("done");
});

test("a failed turn says why and what to do, once, and leaves nothing open", () => {
  const { agent, reader } = openReader();
  agent.say("q1", "Hi", "queue");
  agent.startStep();
  agent.stream("Hel", "");
  agent.fail("The key was refused.");
  expect(reader.now.entries.map(({ error }) => error)).toEqual([
    undefined,
    { message: "The key was refused.", advice: "Set a key.", code: "model_auth" },
  ]);
  expect(reader.now).toMatchObject({ state: { status: "idle" }, run: undefined });
  expect(reader.now.error).toBeUndefined();
  reader.leave();
  reader.connect();
  expect(reader.now.entries.map(({ error }) => error?.advice)).toEqual([undefined, "Set a key."]);
});

test("canceling keeps what was said, and a question whose turn never came is marked", () => {
  const { agent, reader } = openReader();
  agent.say("q1", "Hi", "queue");
  agent.startStep();
  agent.stream("Hel", "");
  agent.say("q2", "More", "queue");
  agent.cancel(agent.queue[0]?.id);
  // Another turn runs on, whatever “idle” was said.
  expect(reader.now).toMatchObject({ state: { status: "thinking" }, run: agent.running });
  agent.cancel(agent.running);
  // In the order in which they got their places: what was being said got its own at the end.
  expect(listStages(reader.now)).toEqual(["q1 done", "q2 canceled", "message-2 canceled"]);
  expect(listTexts(reader.now)[2]).toBe("Hel");
});

test("the same message sent twice is one message", () => {
  const { agent, reader } = openReader();
  reader.now = addUnsent(addUnsent(reader.now, "q1", "Hi", 1), "q1", "Hi", 1);
  agent.say("q1", "Hi", "queue");
  agent.startStep();
  agent.say("q1", "Hi", "queue");
  agent.stream("Hello", "");
  agent.say("q1", "Hi", "queue");
  agent.finishStep([]);
  agent.say("q1", "Hi", "queue");
  expect(listStages(reader.now)).toEqual(["q1 done", "message-2 done"]);
});

test("what was said without a connection stays, and becomes real by its id", () => {
  const { agent, reader } = openReader();
  reader.leave();
  reader.now = addUnsent(reader.now, "q1", "Are you there?", 1);
  reader.connect();
  expect(listStages(reader.now)).toEqual(["q1 unsent"]);
  // It had arrived after all, only the answer was lost.
  reader.leave();
  agent.say("q1", "Are you there?", "queue");
  agent.startStep();
  agent.stream("Yes.", "");
  agent.finishStep([]);
  reader.connect();
  agent.say("q1", "Are you there?", "queue");
  expect(listStages(reader.now)).toEqual(["q1 done", "message-2 done"]);
});

test("a message the agent does not take says so and can be taken away", () => {
  let now = addUnsent(emptyConversation, "q1", "x", 1);
  now = receive(now, { type: "error", error: "Too long.", code: "too_large", id: "q1" });
  expect(now.entries[0]).toMatchObject({ stage: "refused", error: { message: "Too long." } });
  expect(removeMessage(now, "q1").entries).toEqual([]);
  expect(receive(emptyConversation, { type: "error", error: "Not JSON.", code: "bad_request" }).error).toEqual({
    message: "Not JSON.",
  });
});

test("an answer to something sent while a turn runs is no failure of that turn", () => {
  const { agent, reader } = openReader();
  agent.say("q1", "Hi", "queue");
  agent.startStep();
  const before = listStages(reader.now);
  reader.receive({ type: "error", error: "Nothing waits for an approval.", code: "conflict" });
  expect(listStages(reader.now)).toEqual(before);
  expect(reader.now.error).toEqual({ message: "Nothing waits for an approval." });
});

test("how full the model's memory is follows what the provider counts and what is made shorter", () => {
  const { reader } = openReader();
  const context = { used: 900, limit: 1000, model: "x:y" };
  const compacted = { runId: "r", step: 1, shortened: 0, before: 900, after: 200 };
  const fact = { seq: 90, ts: "", threadId: "" };
  reader.receive({ ...fact, type: "context.compacted", data: compacted });
  expect(reader.now.state.context).toBeUndefined();
  const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };
  reader.receive({
    ...fact,
    type: "model.completed",
    data: { runId: "r", step: 1, messageId: "m", model: "x:y", finish: "stop", usage, ms: 1, toolCalls: [], context },
  });
  expect(reader.now.state.context).toEqual(context);
  reader.receive({ ...fact, type: "context.compacted", data: compacted });
  expect(reader.now.state.context).toEqual({ ...context, used: 200 });
});

test("todos and title follow the agent, and clearing leaves only what is unsent", () => {
  const { agent, reader } = openReader();
  agent.say("q1", "Hi", "queue");
  reader.receive({
    type: "todos.updated",
    seq: 90,
    ts: "",
    threadId: "",
    data: { todos: [{ content: "a", status: "pending" }] },
  });
  reader.receive({ type: "title.set", seq: 91, ts: "", threadId: "", data: { title: "Greeting" } });
  expect(reader.now).toMatchObject({ state: { title: "Greeting" }, todos: [{ content: "a" }] });
  agent.cancel(agent.running);
  reader.now = addUnsent(reader.now, "q2", "still typing", 1);
  agent.clear();
  expect(listStages(reader.now)).toEqual(["q2 unsent"]);
  expect(reader.now).toMatchObject({ todos: [], state: { queued: 0 } });
  expect(reader.now.state.title).toBeUndefined();
});

test("a message that nothing goes before does not look as if it waited", () => {
  const message: Message = {
    id: "q1",
    role: "user",
    status: "pending",
    content: "Hi",
    timestamp: 1,
    runId: "r1",
    attempt: 1,
  };
  const next = receive(emptyConversation, {
    type: "task-queued",
    id: message.id,
    taskId: "r1",
    position: 0,
    messages: [message],
  });
  expect(listStages(next)).toEqual(["q1 done"]);
  const behind = receive(
    { ...emptyConversation, run: "r0" },
    { type: "task-queued", id: message.id, taskId: "r1", position: 1, messages: [message] },
  );
  expect(listStages(behind)).toEqual(["q1 waiting"]);
});

test("entries that a frame does not touch stay the same objects", () => {
  const { agent, reader } = openReader();
  runTurns(agent, 3);
  const before = reader.now.entries;
  agent.say("q9", "more", "queue");
  agent.startStep();
  agent.stream("a", "");
  expect(reader.now.entries.slice(0, before.length).every((entry, index) => entry === before[index])).toBe(true);
});
