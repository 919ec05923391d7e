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

test("a turn with a tool call is shown live", () => {
  const { agent, reader } = openReader();
  reader.conversation = addUnsent(reader.conversation, "q1", "What is the time?", 5);
  expect(listStages(reader.conversation)).toEqual(["q1 unsent"]);
  agent.sendMessage("q1", "What is the time?", "queue");
  expect(listStages(reader.conversation)).toEqual(["q1 done"]);
  agent.startStep();
  agent.stream("Let me ", "hm");
  agent.stream("look.", "");
  expect(listTexts(reader.conversation)).toEqual(["What is the time?", "Let me look."]);
  agent.finishStep(["clock"]);
  expect(reader.conversation.entries[1]?.calls).toMatchObject([{ name: "clock", input: { name: "clock" } }]);
  expect(reader.conversation.entries[1]?.calls[0]?.result).toBeUndefined();
  agent.finishCall("noon", false);
  expect(reader.conversation.entries[1]?.calls[0]?.result).toMatchObject({ output: "noon", failed: false });
  agent.startStep();
  agent.stream("It is noon.", "");
  expect(reader.conversation.run).toBeDefined();
  agent.finishStep([]);
  expect(listTexts(reader.conversation)).toEqual(["What is the time?", "Let me look.", "It is noon."]);
  expect(reader.conversation).toMatchObject({
    state: { status: "idle" },
    run: undefined,
    turnCount: 1,
    lastMessage: { text: "It is noon." },
  });
});

test("a lost connection neither loses nor duplicates text", () => {
  const { agent, reader } = openReader();
  agent.sendMessage("q1", "Count.", "queue");
  agent.startStep();
  agent.stream("one two ", "");
  reader.disconnect();
  agent.stream("three four ", "");
  reader.connect();
  expect(listTexts(reader.conversation)).toEqual(["Count.", "one two three four "]);
  agent.stream("five", "");
  expect(listTexts(reader.conversation)).toEqual(["Count.", "one two three four five"]);
});

test("the text of a step that a crash or a provider failure voided is removed", () => {
  const { agent, reader } = openReader();
  agent.sendMessage("q1", "Count.", "queue");
  agent.startStep();
  agent.stream("one two", "thinking");
  agent.retryStep();
  expect(reader.conversation.retry).toBeUndefined();
  expect(listTexts(reader.conversation)).toEqual(["Count.", ""]);
  agent.stream("eins", "");
  agent.hibernate();
  expect(listTexts(reader.conversation)).toEqual(["Count."]);
  agent.startStep();
  agent.stream("un", "");
  agent.crash();
  reader.connect();
  expect(listTexts(reader.conversation)).toEqual(["Count."]);
  agent.startStep();
  agent.stream("uno", "");
  agent.finishStep([]);
  expect(listTexts(reader.conversation)).toEqual(["Count.", "uno"]);
});

test("a retry is shown with its reason until the model continues", () => {
  const retrying: ChatFrame = {
    type: "task-retrying",
    taskId: "run-1",
    error: "overloaded",
    attempt: 1,
    retryIn: 4000,
  };
  const { agent, reader } = openReader();
  agent.sendMessage("q1", "Hi", "queue");
  agent.startStep();
  reader.receive(retrying);
  reader.receive({ type: "status", status: "thinking" });
  expect(reader.conversation.retry).toEqual({ error: "overloaded", attempt: 1, inMs: 4000 });
  agent.stream("Hello", "");
  expect(reader.conversation.retry).toBeUndefined();
});

test("messages are queued behind the running turn, and each response follows its message", () => {
  const { agent, reader } = openReader();
  agent.sendMessage("q1", "first", "queue");
  agent.startStep();
  agent.stream("one", "");
  agent.sendMessage("q2", "second", "queue");
  reader.conversation = addUnsent(reader.conversation, "q3", "third", 1);
  expect(listStages(reader.conversation)).toEqual(["q1 done", "message-2 streaming", "q2 waiting", "q3 unsent"]);
  agent.sendMessage("q3", "third", "interrupt");
  agent.startStep();
  agent.stream("three", "");
  expect(listTexts(reader.conversation)).toEqual(["first", "one", "third", "three", "second"]);
  expect(listStages(reader.conversation)).toMatchObject([
    "q1 done",
    "message-2 canceled",
    "q3 done",
    expect.stringContaining("streaming"),
    "q2 waiting",
  ]);
});

test("a message that joins a turn gets its place before the next step", () => {
  const { agent, reader } = openReader();
  agent.sendMessage("q1", "Go.", "queue");
  agent.startStep();
  agent.stream("Going", "");
  agent.sendMessage("q2", "Left!", "steer");
  expect(listStages(reader.conversation).at(-1)).toBe("q2 waiting");
  agent.finishStep(["turn"]);
  agent.finishCall("ok", false);
  agent.startStep();
  expect(listTexts(reader.conversation)).toEqual(["Go.", "Going", "Left!", ""]);
  expect(reader.conversation.entries[2]?.stage).toBe("done");
});

test("a failed turn shows its error and advice once, and leaves nothing open", () => {
  const { agent, reader } = openReader();
  agent.sendMessage("q1", "Hi", "queue");
  agent.startStep();
  agent.stream("Hel", "");
  agent.fail("The key was refused.");
  expect(reader.conversation.entries.map(({ error }) => error)).toEqual([
    undefined,
    { message: "The key was refused.", advice: "Set a key.", code: "model_auth" },
  ]);
  expect(reader.conversation).toMatchObject({ state: { status: "idle" }, run: undefined });
  expect(reader.conversation.error).toBeUndefined();
  reader.disconnect();
  reader.connect();
  expect(reader.conversation.entries.map(({ error }) => error?.advice)).toEqual([undefined, "Set a key."]);
});

test("canceling keeps the text so far, and marks a message whose turn never started", () => {
  const { agent, reader } = openReader();
  agent.sendMessage("q1", "Hi", "queue");
  agent.startStep();
  agent.stream("Hel", "");
  agent.sendMessage("q2", "More", "queue");
  agent.cancel(agent.queue[0]?.id);
  // Another turn is still running, despite the “idle” frame.
  expect(reader.conversation).toMatchObject({ state: { status: "thinking" }, run: agent.running });
  agent.cancel(agent.running);
  // In the order in which they got their places: the draft got its place last.
  expect(listStages(reader.conversation)).toEqual(["q1 done", "q2 canceled", "message-2 canceled"]);
  expect(listTexts(reader.conversation)[2]).toBe("Hel");
});

test("the same message sent twice is one message", () => {
  const { agent, reader } = openReader();
  reader.conversation = addUnsent(addUnsent(reader.conversation, "q1", "Hi", 1), "q1", "Hi", 1);
  agent.sendMessage("q1", "Hi", "queue");
  agent.startStep();
  agent.sendMessage("q1", "Hi", "queue");
  agent.stream("Hello", "");
  agent.sendMessage("q1", "Hi", "queue");
  agent.finishStep([]);
  agent.sendMessage("q1", "Hi", "queue");
  expect(listStages(reader.conversation)).toEqual(["q1 done", "message-2 done"]);
});

test("a message that was sent without a connection stays, and is matched by its id", () => {
  const { agent, reader } = openReader();
  reader.disconnect();
  reader.conversation = addUnsent(reader.conversation, "q1", "Are you there?", 1);
  reader.connect();
  expect(listStages(reader.conversation)).toEqual(["q1 unsent"]);
  // It had arrived after all; only the confirmation was lost.
  reader.disconnect();
  agent.sendMessage("q1", "Are you there?", "queue");
  agent.startStep();
  agent.stream("Yes.", "");
  agent.finishStep([]);
  reader.connect();
  agent.sendMessage("q1", "Are you there?", "queue");
  expect(listStages(reader.conversation)).toEqual(["q1 done", "message-2 done"]);
});

test("a message that the agent rejects shows the error and can be removed", () => {
  let conversation = addUnsent(emptyConversation, "q1", "x", 1);
  conversation = receive(conversation, { type: "error", error: "Too long.", code: "too_large", id: "q1" });
  expect(conversation.entries[0]).toMatchObject({ stage: "refused", error: { message: "Too long." } });
  expect(removeMessage(conversation, "q1").entries).toEqual([]);
  expect(receive(emptyConversation, { type: "error", error: "Not JSON.", code: "bad_request" }).error).toEqual({
    message: "Not JSON.",
  });
});

test("an error about a frame that was sent while a turn runs is not a failure of that turn", () => {
  const { agent, reader } = openReader();
  agent.sendMessage("q1", "Hi", "queue");
  agent.startStep();
  const before = listStages(reader.conversation);
  reader.receive({ type: "error", error: "No tool call is waiting for approval.", code: "conflict" });
  expect(listStages(reader.conversation)).toEqual(before);
  expect(reader.conversation.error).toEqual({ message: "No tool call is waiting for approval." });
});

test("the context usage follows what the provider counts and what is compacted", () => {
  const { reader } = openReader();
  const context = { used: 900, limit: 1000, model: "x:y" };
  const compacted = { runId: "r", step: 1, shortened: 0, before: 900, after: 200 };
  const envelope = { seq: 90, ts: "", threadId: "" };
  reader.receive({ ...envelope, type: "context.compacted", data: compacted });
  expect(reader.conversation.state.context).toBeUndefined();
  const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };
  reader.receive({
    ...envelope,
    type: "model.completed",
    data: { runId: "r", step: 1, messageId: "m", model: "x:y", finish: "stop", usage, ms: 1, toolCalls: [], context },
  });
  expect(reader.conversation.state.context).toEqual(context);
  reader.receive({ ...envelope, type: "context.compacted", data: compacted });
  expect(reader.conversation.state.context).toEqual({ ...context, used: 200 });
});

test("todos and title follow the agent, and clearing keeps only unsent messages", () => {
  const { agent, reader } = openReader();
  agent.sendMessage("q1", "Hi", "queue");
  reader.receive({
    type: "todos.updated",
    seq: 90,
    ts: "",
    threadId: "",
    data: { todos: [{ content: "a", status: "pending" }] },
  });
  reader.receive({ type: "title.set", seq: 91, ts: "", threadId: "", data: { title: "Greeting" } });
  expect(reader.conversation).toMatchObject({ state: { title: "Greeting" }, todos: [{ content: "a" }] });
  agent.cancel(agent.running);
  reader.conversation = addUnsent(reader.conversation, "q2", "still typing", 1);
  agent.clear();
  expect(listStages(reader.conversation)).toEqual(["q2 unsent"]);
  expect(reader.conversation).toMatchObject({ todos: [], state: { queued: 0 } });
  expect(reader.conversation.state.title).toBeUndefined();
});

test("a message with an empty queue before it is not shown as waiting", () => {
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
  const queued = receive(
    { ...emptyConversation, run: "r0" },
    { type: "task-queued", id: message.id, taskId: "r1", position: 1, messages: [message] },
  );
  expect(listStages(queued)).toEqual(["q1 waiting"]);
});

test("entries that a frame does not change stay the same objects", () => {
  const { agent, reader } = openReader();
  runTurns(agent, 3);
  const before = reader.conversation.entries;
  agent.sendMessage("q9", "more", "queue");
  agent.startStep();
  agent.stream("a", "");
  expect(reader.conversation.entries.slice(0, before.length).every((entry, index) => entry === before[index])).toBe(
    true,
  );
});
