import { expect, test } from "vitest";
import type { ToolCall } from "../../model/model.ts";
import type { Journal, JournalReply } from "../../store/code/journal.ts";
import { getReplyId, Replies } from "./replies.ts";

const request = { turn: "turn", number: 1, messages: [], logged: 0 };

/** Opens replies that write to a list of messages, with a journal that outlives them. */
function openReplies({
  journal = new Map<string, JournalReply>(),
  areStreamed = true,
}: { journal?: Map<string, JournalReply>; areStreamed?: boolean } = {}) {
  const messages: { id: string; text: string; calls: readonly ToolCall[]; isOpen: boolean }[] = [];
  const current = () => messages.at(-1)!;
  const shown: unknown[] = [];
  const replies = new Replies(
    {
      begin(id) {
        expect(messages.every(({ isOpen }) => !isOpen)).toBe(true);
        messages.push({ id, text: "", calls: [], isOpen: true });
      },
      append: (text) => void (current().text += text),
      complete(id, calls) {
        expect(current()).toMatchObject({ id, isOpen: true });
        Object.assign(current(), { calls, isOpen: false });
        return calls.map((call, index) => ({ ...call, id: `call-${index}` }));
      },
      discard: () => void messages.pop(),
      showActivity: (activity) => void shown.push(activity),
    },
    {
      findReply: (_: unknown, name: string) => journal.get(name),
      putReply: (_: unknown, name: string, reply: JournalReply) => void journal.set(name, reply),
    } as unknown as Journal,
    request,
    areStreamed,
  );
  const texts = () => messages.map(({ text }) => text);
  return { replies, messages, texts, shown, journal };
}

const call = { id: "", name: "echo", input: {} };

test("the first reply is streamed, and those after it follow when it has ended", () => {
  const { replies, texts, messages } = openReplies();
  replies.write("0", "a");
  replies.write("1", "x");
  replies.write("0", "b");
  expect(texts()).toEqual(["ab"]);
  replies.end("1");
  expect(texts()).toEqual(["ab"]);
  replies.end("0");
  expect(texts()).toEqual(["ab", "x"]);
  expect(messages.every(({ isOpen }) => !isOpen)).toBe(true);
});

test("a reply without text leaves no message", () => {
  const { replies, texts } = openReplies();
  replies.end("0");
  replies.write("1", "");
  replies.end("1");
  replies.finish();
  expect(texts()).toEqual([]);
});

test("tool calls divide the reply that is open, and are a message of their own if none is", () => {
  const { replies, messages } = openReplies();
  expect(replies.requestCalls([call], "key")).toEqual([{ ...call, id: "call-0" }]);
  replies.write("0", "before ");
  replies.requestCalls([call], "other");
  replies.write("0", "after");
  replies.finish();
  expect(messages.map(({ text, calls }) => [text, calls.length])).toEqual([
    ["", 1],
    ["before ", 1],
    ["after", 0],
  ]);
  const [, first, second] = messages;
  expect(getReplyId(first!.id)).toBe(getReplyId(second!.id));
  expect(getReplyId(messages[0]!.id)).not.toBe(getReplyId(first!.id));
});

test("code that is run again writes only what is not in the conversation, however it cuts its text", () => {
  const { replies, journal } = openReplies();
  replies.write("0", "before ");
  replies.write("1", "later");
  replies.requestCalls([call], "key");
  const again = openReplies({ journal });
  again.replies.write("0", "bef");
  again.replies.write("0", "ore after");
  again.replies.write("1", "later");
  again.replies.finish();
  expect(again.texts()).toEqual(["after", "later"]);
  // And once more, when everything is there.
  const last = openReplies({ journal });
  last.replies.write("0", "before after");
  last.replies.write("1", "later");
  last.replies.finish();
  expect(last.texts()).toEqual([]);
});

test("replies of concurrent turns are written when they are complete, in any order", () => {
  const { replies, texts } = openReplies({ areStreamed: false });
  replies.write("0", "a");
  replies.write("1", "x");
  expect(texts()).toEqual([]);
  replies.end("1");
  expect(texts()).toEqual(["x"]);
  replies.finish();
  expect(texts()).toEqual(["x", "a"]);
});

test("what is written after the end, too long or too often is refused", () => {
  const { replies } = openReplies();
  replies.write("0", "a");
  replies.end("0");
  expect(() => replies.write("0", "b")).toThrow("This reply has ended.");
  expect(() => replies.write("1", "x".repeat(1_000_001))).toThrow("at most 1000000 characters");
  const { replies: others } = openReplies();
  for (let index = 0; index < 200; index++) others.end(String(index));
  expect(() => others.end("one more")).toThrow("at most 200 replies");
});

test("what code shows while it works is passed on, with long arguments shortened", () => {
  const { replies, shown } = openReplies();
  replies.apply({ reply: 0, type: "thinking", text: "hm" });
  replies.apply({ reply: 0, type: "action", tool: "search", args: { text: "x".repeat(5000) } });
  replies.apply({ reply: 0, type: "actionComplete" });
  expect(shown).toEqual([
    { kind: "thinking", text: "hm" },
    { kind: "action", tool: "search", args: expect.stringMatching(/^\{"text":"x{1990,2000}…$/) },
    { kind: "idle" },
  ]);
});
