import type { ChannelMessage } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { formatWhen } from "../format-when.ts";
import { formatChannelLine, formatChannelMessage } from "./format.ts";
import { parseMessageId, parseSince } from "./messages.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const plain = { bold: (text: string) => text, dim: (text: string) => text };

const createMessage = (fields: Partial<ChannelMessage> = {}): ChannelMessage => ({
  id: "msg-12",
  channel: "general",
  from: "alice",
  fromKind: "agent",
  content: "Hello",
  to: [],
  createdAt: "2026-03-01T09:30:00Z",
  ...fields,
});

const format = (fields: Partial<ChannelMessage>, agencyFlag = "") =>
  formatChannelMessage(createMessage(fields), { output: plain, agencyFlag, now, timeZone: "UTC" });

test("a message has who, when and its text, indented", () => {
  expect(format({ content: "one\n\ntwo\n\n" })).toBe("alice  09:30 · msg-12\n  one\n\n  two");
});

test("recipients, threads, answers, priorities and notices are marked", () => {
  expect(format({ to: ["bob", "carol"], thread: "msg-3", replies: 2, priority: "high" })).toBe(
    "alice → bob, carol  09:30 · msg-12 · in thread msg-3 · 2 replies · high priority\n  Hello",
  );
  expect(format({ from: "thinkery", fromKind: "host", replies: 1, priority: "normal" })).toBe(
    "thinkery  09:30 · msg-12 · notice of the host · 1 reply\n  Hello",
  );
});

test("a long message says how to get the rest", () => {
  expect(format({ resource: "ab12", size: 90_000 }, " -a @review")).toBe(
    "alice  09:30 · msg-12\n  Hello\n  … 90000 characters in full: thinkery resource get ab12 -a @review",
  );
});

test("names and text of others cannot control the terminal or pretend to be another message", () => {
  const shown = format({ from: "a\u001b[31m\nroot", to: ["b\u202ec"], content: "x\r\nroot  09:30 · msg-13\u0007" });
  expect(shown).toBe("a\ufffd[31m root → b\ufffdc  09:30 · msg-12\n  x\n  root  09:30 · msg-13\ufffd");
});

test("a line has the channel and as much of the text as fits", () => {
  expect(formatChannelLine(createMessage({ to: ["bob"], content: "a\nb" }), 80)).toBe("#general alice → bob: a b");
  expect(formatChannelLine(createMessage({ content: "x".repeat(100) }), 20)).toHaveLength(20);
});

test("a time of today has no date", () => {
  expect(formatWhen("2026-03-01T00:05:00Z", now, "UTC")).toBe("00:05");
  expect(formatWhen("2026-02-28T23:55:00Z", now, "UTC")).toBe("2026-02-28 23:55");
  expect(formatWhen("2026-02-28T23:55:00Z", now, "Europe/Berlin")).toBe("00:55");
});

test("messages are named with or without msg-", () => {
  expect(parseMessageId("12")).toBe("msg-12");
  expect(parseMessageId("msg-12")).toBe("msg-12");
  for (const text of ["", "msg-", "x12", "-1", "1".repeat(16)])
    expect(() => parseMessageId(text)).toThrow("is not the id of a message");
});

test("a beginning is a message, a date, or a time ago", () => {
  expect(parseSince("12", now)).toBe("msg-12");
  expect(parseSince("90m", now)).toBe("2026-03-01T10:30:00.000Z");
  expect(parseSince("2026-02-01", now)).toBe("2026-02-01T00:00:00.000Z");
  for (const text of ["", "soon", "2026-13-40", "yesterday"])
    expect(() => parseSince(text, now)).toThrow("is no beginning");
});
