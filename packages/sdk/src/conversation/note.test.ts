import { expect, test } from "vitest";
import type { AgentEvent } from "../protocol/event.ts";
import type { Message } from "../protocol/message.ts";
import { AgentDouble } from "./agent-double.ts";
import { emptyConversation } from "./conversation.ts";
import { ReaderDouble } from "./reader-double.ts";
import { receive } from "./receive.ts";
import { recallEvents } from "./reduce.ts";

const fact = { ts: "2026-11-15T12:00:00.000Z", threadId: "a" };
const failed = (seq: number): AgentEvent => ({
  ...fact,
  seq,
  type: "middleware.failed",
  data: { runId: "r", step: 1, middlewareName: "spy", hook: "onTick", error: "no" },
});
const said = (seq: number): Message => ({
  id: `m${seq}`,
  role: "user",
  status: "complete",
  content: "Hi",
  timestamp: 1,
  runId: "r",
  attempt: 1,
  seq: seq * 1000,
});

test("what happened between two messages stands between their places", () => {
  const agent = new AgentDouble();
  const reader = new ReaderDouble(agent);
  agent.say("q1", "Hi", "queue");
  agent.note("");
  agent.startStep();
  agent.stream("Hello", "");
  agent.finishStep([]);
  const [question, answer] = reader.now.entries;
  const [note, ...more] = reader.now.notes;
  expect(more).toEqual([]);
  expect(note).toMatchObject({ kind: "compaction", before: 900, after: 200, summary: "short" });
  expect([question?.seq, note?.seq, answer?.seq].toSorted((one, other) => (one ?? 0) - (other ?? 0))).toEqual([
    question?.seq,
    note?.seq,
    answer?.seq,
  ]);
});

test("an event heard twice, or late, is one note in its place, and there is an end to them", () => {
  const heard = [9, 5, 9, 7, 5].reduce((now, seq) => receive(now, failed(seq)), emptyConversation);
  expect(heard.notes.map(({ seq }) => seq)).toEqual([5000, 7000, 9000]);
  const many = Array.from({ length: 2000 }, (_, index) => failed(index)).reduce(receive, emptyConversation);
  expect(many.notes.length).toBeLessThanOrEqual(500);
  expect(many.notes.at(-1)?.seq).toBe(1999 * 1000);
});

test("what is recalled belongs to messages that are shown, and goes with them", () => {
  const history = receive(emptyConversation, { type: "history", messages: [said(5), said(8)] });
  const now = recallEvents(history, [failed(3), failed(6), failed(9)]);
  expect(now.notes.map(({ seq }) => seq)).toEqual([6000, 9000]);
  expect(now.lastNote).toBeUndefined();
  expect(receive(receive(now, failed(10)), failed(6)).lastNote?.seq).toBe(10_000);
  expect(recallEvents(emptyConversation, [failed(6)]).notes).toEqual([]);
  expect(receive(now, { type: "history", messages: [said(8)] }).notes.map(({ seq }) => seq)).toEqual([6000, 9000]);
  expect(receive(now, { type: "history", messages: [said(20)] }).notes).toEqual([]);
});

test("why a turn failed is recalled in full, and only where its message is shown", () => {
  const budget = { level: "agency", kind: "tokens", per: "day", limit: 10, spent: 12, reserved: 0 } as const;
  const event: AgentEvent = {
    ...fact,
    seq: 9,
    type: "agent.error",
    data: { runId: "r", error: "Used up.", advice: "Raise it.", code: "budget", budget },
  };
  const message: Message = {
    ...said(9),
    id: "r-error",
    role: "assistant",
    status: "error",
    content: "",
    error: "Used up. Raise it.",
  };
  const history = receive(emptyConversation, { type: "history", messages: [said(5), message] });
  expect(history.entries[1]?.error).toEqual({ message: "Used up. Raise it." });
  expect(recallEvents(history, [event]).entries[1]?.error).toEqual({
    message: "Used up.",
    advice: "Raise it.",
    code: "budget",
    budget,
  });
  const elsewhere = receive(emptyConversation, { type: "history", messages: [said(5)] });
  expect(recallEvents(elsewhere, [event]).entries).toEqual(elsewhere.entries);
});
