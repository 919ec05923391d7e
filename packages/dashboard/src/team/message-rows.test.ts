import type { ChannelMessage } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { buildRows } from "./message-rows.ts";

const create = (number: number, at: string, change: Partial<ChannelMessage> = {}): ChannelMessage => ({
  id: `msg-${number}`,
  channel: "general",
  from: "bob",
  fromKind: "agent",
  content: "Hello",
  to: [],
  createdAt: new Date(`2030-01-${at}:00`).toISOString(),
  ...change,
});

const summarize = (messages: ChannelMessage[], unreadAfter?: string) =>
  buildRows(messages, unreadAfter).map((row) =>
    row.kind === "message" ? `${row.id}${row.isFirst ? "*" : ""}` : row.kind,
  );

test("messages of one author are a group until another writes, a pause, or a new day", () => {
  const messages = [
    create(1, "01T10:00"),
    create(2, "01T10:04"),
    create(3, "01T10:10"),
    create(4, "01T10:11", { from: "eve" }),
    create(5, "01T10:12", { from: "eve", fromKind: "user" }),
    create(6, "01T23:59", { from: "eve", fromKind: "user" }),
    create(7, "02T00:01", { from: "eve", fromKind: "user" }),
  ];
  expect(summarize(messages)).toEqual([
    "day",
    "msg-1*",
    "msg-2",
    "msg-3*",
    "msg-4*",
    "msg-5*",
    "msg-6*",
    "day",
    "msg-7*",
  ]);
});

test("notices of the host stand alone, and so do replies to different messages", () => {
  const messages = [
    create(1, "01T10:00", { fromKind: "host", from: "host" }),
    create(2, "01T10:00", { fromKind: "host", from: "host" }),
    create(3, "01T10:00", { thread: "msg-1" }),
    create(4, "01T10:00", { thread: "msg-1" }),
    create(5, "01T10:00", { thread: "msg-2" }),
  ];
  expect(summarize(messages)).toEqual(["day", "msg-1*", "msg-2*", "msg-3*", "msg-4", "msg-5*"]);
});

test("a line marks where unread messages begin", () => {
  const messages = [create(1, "01T10:00"), create(2, "01T10:00"), create(3, "01T10:00")];
  expect(summarize(messages, "msg-1")).toEqual(["day", "msg-1*", "unread", "msg-2*", "msg-3"]);
  expect(summarize(messages, "msg-3")).not.toContain("unread");
});
