import type { AgentEvent, ChatFrame, Message } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { type Random, createRandom } from "../../../../../tests/kit/random.ts";
import { Transcript } from "./transcript.ts";

type Frame = ChatFrame | AgentEvent;

function record(accepts?: (runId: string) => boolean) {
  let shown = "";
  const transcript = new Transcript(
    {
      onText: (piece) => (shown += piece),
      onParagraph: () => (shown += "|"),
      onRestart: () => (shown += "#"),
      onCall: ({ name }, { output }) => (shown += `(${name}: ${output})`),
      onMessage: ({ content }) => (shown += `<${content}>`),
      onTodos: (todos) => (shown += `[${todos.length}]`),
      onProgress: ({ name }, text) => (shown += `{${name}: ${text}}`),
      onCapability: ({ name }, { name: made, input, state }) => (shown += `{${name}: ${made} ${input} ${state}}`),
    },
    accepts,
  );
  return { transcript, shown: () => shown };
}

const started = (messageId: string, step: number, runId = "r", attempt = 1) =>
  ({
    type: "model.started",
    seq: 1,
    ts: "",
    threadId: "t",
    data: { runId, step, messageId, model: "x:y", attempt },
  }) as AgentEvent;
const delta = (messageId: string, delta: string): Frame => ({ type: "text_delta", messageId, delta });
const message = (id: string, content: string, more: Partial<Message> = {}): Message => ({
  id,
  role: "assistant",
  status: "complete",
  content,
  timestamp: 0,
  runId: "r",
  attempt: 1,
  ...more,
});

function show(frames: Frame[], accepts?: (runId: string) => boolean): string {
  const { transcript, shown } = record(accepts);
  for (const frame of frames) transcript.handleFrame(frame);
  return shown();
}

test("text is streamed, with a break between messages", () => {
  const frames = [started("a", 1), delta("a", "Let me "), delta("a", "look."), started("b", 2), delta("b", "Done.")];
  const complete: Frame = { type: "message-complete", message: message("b", "Done.", { step: 2 }) };
  expect(show([...frames, { type: "text_done", messageId: "b" }, complete])).toBe("Let me look.|Done.");
});

test("text, calls and todos of other turns are not shown", () => {
  const call = (id: string, runId: string): Frame[] => [
    { type: "tool_call", id, name: "bash", input: {}, runId },
    { type: "tool_result", callId: id, name: "bash", output: id, runId },
  ];
  const todos = {
    type: "todos.updated",
    seq: 2,
    ts: "",
    threadId: "t",
    data: { todos: [{ content: "x", status: "pending" }] },
  } as AgentEvent;
  const frames = [
    started("a", 1, "other"),
    delta("a", "no"),
    todos,
    ...call("1", "other"),
    started("b", 1),
    delta("b", "yes"),
    ...call("2", "r"),
    todos,
  ];
  expect(show(frames, (runId) => runId === "r")).toBe("yes(bash: 2)[1]");
});

test("a retried message is shown once if it repeats its text, and restarted otherwise", () => {
  const retry: Frame = { type: "task-retrying", taskId: "r", error: "cut", attempt: 2, retryIn: 0 };
  const first = [started("a", 1), delta("a", "Hello wor"), retry, started("a", 1, "r", 2)];
  expect(show([...first, delta("a", "Hello "), delta("a", "world.")])).toBe("Hello world.");
  expect(show([...first, delta("a", "Help!")])).toBe("Hello wor#Help!");
  const shorter: Frame = { type: "message-complete", message: message("a", "Hello") };
  expect(show([...first, delta("a", "Hello"), shorter])).toBe("Hello wor#Hello");
  // The same under a new id, as after a restart of the host.
  expect(show([started("a", 1), delta("a", "Hello wor"), started("b", 1), delta("b", "Hello world.")])).toBe(
    "Hello world.",
  );
});

test("a call is shown once, even if the history repeats it", () => {
  const { transcript, shown } = record();
  transcript.handleFrame({ type: "tool_call", id: "1", name: "bash", input: {}, runId: "r" });
  transcript.handleFrame({ type: "tool_result", callId: "1", name: "bash", output: "ok", runId: "r" });
  const result = (callId: string, name = "bash") =>
    message(`t${callId}`, "", { role: "tool", toolResult: { callId, name, summary: callId, preview: "", size: 1 } });
  transcript.catchUp([result("1"), result("2"), result("3", "write_todos")]);
  expect(shown()).toBe("(bash: ok)(bash: 2)");
});

test("progress and calls made by code are shown for the current turn until the call ends", () => {
  const call = (id: string, runId: string): Frame => ({ type: "tool_call", id, name: id, input: {}, runId });
  const shows = (callId: string, text: string, runId = "r"): Frame => ({ type: "tool_progress", callId, text, runId });
  const base = { seq: 1, ts: "", threadId: "t" };
  const called = (parentCallId: string, toolName: string, runId = "r") =>
    ({
      ...base,
      type: "capability.called",
      data: { runId, step: 1, parentCallId, callId: `${parentCallId}.1`, toolName, args: { a: 1 } },
    }) as AgentEvent;
  const answered = (parentCallId: string, toolName: string, error?: string, runId = "r") =>
    ({
      ...base,
      type: "capability.answered",
      data: {
        runId,
        parentCallId,
        callId: `${parentCallId}.1`,
        toolName,
        ms: 1,
        action: "a",
        ...(error ? { error } : {}),
      },
    }) as AgentEvent;
  const frames = [
    call("code", "r"),
    call("theirs", "other"),
    shows("code", "one"),
    shows("theirs", "no", "other"),
    shows("unknown", "no"),
    called("code", "sandbox"),
    // Progress of a tool called by code is attributed to the call that runs the code.
    shows("code.1", "two"),
    answered("code", "sandbox"),
    called("theirs", "fetch", "other"),
    answered("theirs", "fetch", undefined, "other"),
    answered("code", "set_title"),
    answered("code", "set_title", "too long"),
  ];
  const end: Frame[] = [
    { type: "tool_result", callId: "code", name: "code", output: "ok", runId: "r" },
    shows("code", "late"),
  ];
  expect(show([...frames, ...end], (runId) => runId === "r")).toBe(
    '{code: one}{code: two}{code: sandbox {"a":1} done}{code: set_title  failed}(code: ok)',
  );
});

test("known messages are skipped and own messages are not repeated", () => {
  const { transcript, shown } = record();
  const userMessage = (id: string) => message(id, id, { role: "user" });
  transcript.markShown("mine");
  transcript.skip([userMessage("old"), message("older", "old words")]);
  transcript.addMessages([userMessage("theirs"), userMessage("mine")]);
  transcript.catchUp([
    userMessage("old"),
    message("older", "old words"),
    userMessage("mine"),
    userMessage("theirs"),
    userMessage("missed"),
    message("m", "words"),
  ]);
  expect(shown()).toBe("<theirs><missed>words");
});

test("joining in the middle of a message shows only later messages", () => {
  let joined = false;
  const { transcript, shown } = record(() => joined);
  transcript.handleFrame(started("a", 1));
  transcript.handleFrame(delta("a", "begun "));
  joined = true;
  transcript.skipStarted();
  transcript.handleFrame(delta("a", "before"));
  transcript.handleFrame({ type: "message-complete", message: message("a", "begun before", { step: 1 }) });
  transcript.handleFrame(started("b", 2));
  transcript.handleFrame(delta("b", "after"));
  expect(shown()).toBe("after");
});

/** Streams a turn of several messages over a connection that breaks, and a host that restarts, at random. */
function simulateTurn(random: Random, texts: string[]): { shown: string; expected: string } {
  const { transcript, shown } = record();
  const done: Message[] = [];
  for (const [index, text] of texts.entries()) {
    const step = index + 1;
    let id = `m${step}`;
    let connected = true;
    transcript.handleFrame(started(id, step));
    for (let at = 0; at < text.length;) {
      const to = Math.min(text.length, at + 1 + random.below(5));
      if (connected) transcript.handleFrame(delta(id, text.slice(at, to)));
      at = to;
      if (random.chance(0.1)) connected = false;
      const reconnects = !connected && random.chance(0.5);
      if (reconnects && random.chance(0.4)) {
        // The host died: only a part was stored, and the model repeats the message under its old id or a new one.
        if (random.chance(0.5)) id = `${id}+`;
        transcript.catchUp(done);
        transcript.handleFrame({
          type: "pending-message",
          message: message(id, text.slice(0, random.below(at)), { status: "streaming", step }),
        });
        transcript.handleFrame(started(id, step, "r", 2));
        at = 0;
        connected = true;
      } else if (reconnects) {
        transcript.catchUp(done);
        transcript.handleFrame({
          type: "pending-message",
          message: message(id, text.slice(0, at), { status: "streaming", step }),
        });
        connected = true;
      }
    }
    done.push(message(id, text, { step }));
    if (connected) transcript.handleFrame({ type: "text_done", messageId: id });
    // A new connection starts with the current conversation.
    if (!connected) transcript.catchUp(done);
  }
  return { shown: shown(), expected: texts.join("|") };
}

test("nothing is lost or duplicated across disconnects and restarts", () => {
  const random = createRandom("transcript");
  for (let round = 0; round < 500; round++) {
    const texts = Array.from({ length: 1 + random.below(4) }, () => random.text(1 + random.below(60), "abc "));
    const { shown, expected } = simulateTurn(random, texts);
    expect(shown, `round ${round}`).toBe(expected);
  }
});
