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

test("text comes as it is said, with a break between messages", () => {
  const frames = [started("a", 1), delta("a", "Let me "), delta("a", "look."), started("b", 2), delta("b", "Done.")];
  const complete: Frame = { type: "message-complete", message: message("b", "Done.", { step: 2 }) };
  expect(show([...frames, { type: "text_done", messageId: "b" }, complete])).toBe("Let me look.|Done.");
});

test("other turns' words, calls and todos are not shown to whoever waits for one", () => {
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

test("a message that begins again after a retry is shown once when it says the same, and told anew when not", () => {
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

test("a call is shown once, with what was asked, also when it comes again with the history", () => {
  const { transcript, shown } = record();
  transcript.handleFrame({ type: "tool_call", id: "1", name: "bash", input: {}, runId: "r" });
  transcript.handleFrame({ type: "tool_result", callId: "1", name: "bash", output: "ok", runId: "r" });
  const result = (callId: string, name = "bash") =>
    message(`t${callId}`, "", { role: "tool", toolResult: { callId, name, summary: callId, preview: "", size: 1 } });
  transcript.catchUp([result("1"), result("2"), result("3", "write_todos")]);
  expect(shown()).toBe("(bash: ok)(bash: 2)");
});

test("what a call shows and what its code was answered is shown until the call is over, of one's own turn", () => {
  const call = (id: string, runId: string): Frame => ({ type: "tool_call", id, name: id, input: {}, runId });
  const shows = (callId: string, text: string, runId = "r"): Frame => ({ type: "tool_progress", callId, text, runId });
  const base = { seq: 1, ts: "", threadId: "t" };
  const called = (parentCallId: string, toolName: string, runId = "r") =>
    ({
      ...base,
      type: "capability.called",
      data: { runId, step: 1, parentCallId, callId: `${parentCallId}.1`, toolName, args: { a: 1 } },
    }) as AgentEvent;
  const came = (parentCallId: string, toolName: string, error?: string, runId = "r") =>
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
    // What a tool shows that the code has called is shown by the call that runs the code.
    shows("code.1", "two"),
    came("code", "sandbox"),
    called("theirs", "fetch", "other"),
    came("theirs", "fetch", undefined, "other"),
    came("code", "set_title"),
    came("code", "set_title", "too long"),
  ];
  const end: Frame[] = [
    { type: "tool_result", callId: "code", name: "code", output: "ok", runId: "r" },
    shows("code", "late"),
  ];
  expect(show([...frames, ...end], (runId) => runId === "r")).toBe(
    '{code: one}{code: two}{code: sandbox {"a":1} done}{code: set_title  failed}(code: ok)',
  );
});

test("what was known before is skipped, what was said from here is not repeated", () => {
  const { transcript, shown } = record();
  const said = (id: string) => message(id, id, { role: "user" });
  transcript.markShown("mine");
  transcript.skip([said("old"), message("older", "old words")]);
  transcript.addMessages([said("theirs"), said("mine")]);
  transcript.catchUp([
    said("old"),
    message("older", "old words"),
    said("mine"),
    said("theirs"),
    said("missed"),
    message("m", "words"),
  ]);
  expect(shown()).toBe("<theirs><missed>words");
});

test("whoever joins in the middle of a message hears from the next one on", () => {
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

/** A turn of several messages, told over a connection that is cut at random and a host that restarts at random. */
function tell(chance: Random, texts: string[]): { shown: string; expected: string } {
  const { transcript, shown } = record();
  const done: Message[] = [];
  for (const [index, text] of texts.entries()) {
    const step = index + 1;
    let id = `m${step}`;
    let connected = true;
    transcript.handleFrame(started(id, step));
    for (let at = 0; at < text.length;) {
      const to = Math.min(text.length, at + 1 + chance.below(5));
      if (connected) transcript.handleFrame(delta(id, text.slice(at, to)));
      at = to;
      if (chance.chance(0.1)) connected = false;
      const reconnects = !connected && chance.chance(0.5);
      if (reconnects && chance.chance(0.4)) {
        // The host died: only a part was stored, and the model says it all again, under its old id or a new one.
        if (chance.chance(0.5)) id = `${id}+`;
        transcript.catchUp(done);
        transcript.handleFrame({
          type: "pending-message",
          message: message(id, text.slice(0, chance.below(at)), { status: "streaming", step }),
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
    // A new connection begins with the conversation as it is.
    if (!connected) transcript.catchUp(done);
  }
  return { shown: shown(), expected: texts.join("|") };
}

test("over cuts and restarts nothing is missing and nothing is there twice", () => {
  const chance = createRandom("transcript");
  for (let round = 0; round < 500; round++) {
    const texts = Array.from({ length: 1 + chance.below(4) }, () => chance.text(1 + chance.below(60), "abc "));
    const { shown, expected } = tell(chance, texts);
    expect(shown, `round ${round}`).toBe(expected);
  }
});
