import { expect, test } from "vitest";
import { addMessage, appendPage, mergeNewest, type MessagePages, prependPage } from "./message-pages.ts";
import { createMessage as create } from "./team-double.ts";

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => create(from + index));

const pages = (from: number, to: number, change: Partial<MessagePages> = {}): MessagePages => ({
  messages: range(from, to),
  hasOlder: false,
  hasNewer: false,
  ...change,
});

const summarize = ({ messages, hasOlder, hasNewer }: MessagePages) =>
  `${hasOlder ? "…" : ""}${messages[0]?.id ?? ""}–${messages.at(-1)?.id ?? ""}${hasNewer ? "…" : ""}`;

test("pages before and after are added, and too many are dropped at the other end", () => {
  expect(summarize(prependPage(pages(11, 20), range(1, 10), false))).toBe("msg-1–msg-20");
  expect(summarize(prependPage(pages(101, 500), range(51, 100), true))).toBe("…msg-51–msg-450…");
  expect(summarize(appendPage(pages(1, 400), range(401, 450), true))).toBe("…msg-51–msg-450…");
  expect(summarize(appendPage(pages(1, 10), range(8, 12), false))).toBe("msg-1–msg-12");
});

test("messages are in the order of their numbers, each once, as they were last sent", () => {
  const merged = appendPage(pages(8, 11), [create(10, { content: "new" }), create(9)], false);
  expect(merged.messages.map(({ id, content }) => `${id} ${content}`)).toEqual([
    "msg-8 Hello",
    "msg-9 Hello",
    "msg-10 new",
    "msg-11 Hello",
  ]);
});

test("a new message is added at the end only if the end is shown", () => {
  expect(summarize(addMessage(pages(1, 5), create(6)))).toBe("msg-1–msg-6");
  expect(summarize(addMessage({ messages: [], hasOlder: false, hasNewer: false }, create(6)))).toBe("msg-6–msg-6");
  const past = pages(1, 5, { hasNewer: true });
  expect(addMessage(past, create(9))).toBe(past);
  const later = pages(5, 9, { hasOlder: true });
  expect(addMessage(later, create(2))).toBe(later);
  expect(addMessage(past, create(3, { content: "new" })).messages[2]?.content).toBe("new");
});

test("a reply is counted once at the message that it answers", () => {
  const reply = create(6, { thread: "msg-2" });
  const once = addMessage(pages(1, 5), reply);
  expect(once.messages[1]?.replies).toBe(1);
  expect(addMessage(once, reply).messages[1]?.replies).toBe(1);
  expect(addMessage(once, create(7, { thread: "msg-2" })).messages[1]?.replies).toBe(2);
  expect(summarize(addMessage(pages(3, 5), reply))).toBe("msg-3–msg-6");
});

test("after a time without a connection, the newest page closes the gap or takes the place of all", () => {
  expect(summarize(mergeNewest(pages(1, 10), pages(5, 15, { hasOlder: true })))).toBe("msg-1–msg-15");
  expect(summarize(mergeNewest(pages(1, 10), pages(50, 60, { hasOlder: true })))).toBe("…msg-50–msg-60");
  // Of other channels are the numbers between.
  expect(summarize(mergeNewest(pages(1, 10), pages(50, 60)))).toBe("msg-1–msg-60");
  const past = pages(1, 10, { hasNewer: true });
  expect(mergeNewest(past, pages(50, 60, { hasOlder: true }))).toBe(past);
});
