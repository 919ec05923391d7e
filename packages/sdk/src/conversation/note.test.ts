import { expect, test } from "vitest";
import type { AgentEvent } from "../protocol/event.ts";
import type { Message } from "../protocol/message.ts";
import { AgentDouble } from "./agent-double.ts";
import { emptyConversation } from "./conversation.ts";
import { ReaderDouble } from "./reader-double.ts";
import { receive } from "./receive.ts";
import { backfillEvents } from "./reduce.ts";

const envelope = { ts: "2026-11-15T12:00:00.000Z", threadId: "a" };
const createFailure = (seq: number): AgentEvent => ({
  ...envelope,
  seq,
  type: "middleware.failed",
  data: { runId: "r", step: 1, middlewareName: "spy", hook: "onTick", error: "no" },
});
const createMessage = (seq: number): Message => ({
  id: `m${seq}`,
  role: "user",
  status: "complete",
  content: "Hi",
  timestamp: 1,
  runId: "r",
  attempt: 1,
  seq: seq * 1000,
});

test("a note between two messages has a position between theirs", () => {
  const agent = new AgentDouble();
  const reader = new ReaderDouble(agent);
  agent.sendMessage("q1", "Hi", "queue");
  agent.addNote("");
  agent.startStep();
  agent.stream("Hello", "");
  agent.finishStep([]);
  const [request, response] = reader.conversation.entries;
  const [note, ...more] = reader.conversation.notes;
  expect(more).toEqual([]);
  expect(note).toMatchObject({ kind: "compaction", before: 900, after: 200, summary: "short" });
  expect([request?.seq, note?.seq, response?.seq].toSorted((one, other) => (one ?? 0) - (other ?? 0))).toEqual([
    request?.seq,
    note?.seq,
    response?.seq,
  ]);
});

test("an event that arrives twice or late is one note in its place, and the number of notes is bounded", () => {
  const conversation = [9, 5, 9, 7, 5].reduce((next, seq) => receive(next, createFailure(seq)), emptyConversation);
  expect(conversation.notes.map(({ seq }) => seq)).toEqual([5000, 7000, 9000]);
  const many = Array.from({ length: 2000 }, (_, index) => createFailure(index)).reduce(receive, emptyConversation);
  expect(many.notes.length).toBeLessThanOrEqual(500);
  expect(many.notes.at(-1)?.seq).toBe(1999 * 1000);
});

test("backfilled notes belong to messages that are shown, and are dropped with them", () => {
  const history = receive(emptyConversation, { type: "history", messages: [createMessage(5), createMessage(8)] });
  const conversation = backfillEvents(history, [createFailure(3), createFailure(6), createFailure(9)]);
  expect(conversation.notes.map(({ seq }) => seq)).toEqual([6000, 9000]);
  expect(conversation.lastNote).toBeUndefined();
  expect(receive(receive(conversation, createFailure(10)), createFailure(6)).lastNote?.seq).toBe(10_000);
  expect(backfillEvents(emptyConversation, [createFailure(6)]).notes).toEqual([]);
  expect(receive(conversation, { type: "history", messages: [createMessage(8)] }).notes.map(({ seq }) => seq)).toEqual([
    6000, 9000,
  ]);
  expect(receive(conversation, { type: "history", messages: [createMessage(20)] }).notes).toEqual([]);
});

test("the details of a failure are backfilled only if its message is shown", () => {
  const budget = { level: "agency", kind: "tokens", per: "day", limit: 10, spent: 12, reserved: 0 } as const;
  const event: AgentEvent = {
    ...envelope,
    seq: 9,
    type: "agent.error",
    data: { runId: "r", error: "Used up.", advice: "Raise it.", code: "budget", budget },
  };
  const message: Message = {
    ...createMessage(9),
    id: "r-error",
    role: "assistant",
    status: "error",
    content: "",
    error: "Used up. Raise it.",
  };
  const history = receive(emptyConversation, { type: "history", messages: [createMessage(5), message] });
  expect(history.entries[1]?.error).toEqual({ message: "Used up. Raise it." });
  expect(backfillEvents(history, [event]).entries[1]?.error).toEqual({
    message: "Used up.",
    advice: "Raise it.",
    code: "budget",
    budget,
  });
  const other = receive(emptyConversation, { type: "history", messages: [createMessage(5)] });
  expect(backfillEvents(other, [event]).entries).toEqual(other.entries);
});
