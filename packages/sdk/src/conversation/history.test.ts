import { expect, test } from "vitest";
import type { Message } from "../protocol/message.ts";
import { AgentDouble } from "./agent-double.ts";
import { emptyConversation } from "./conversation.ts";
import { prependHistory } from "./history.ts";
import { ReaderDouble, runTurns } from "./reader-double.ts";
import { receive } from "./receive.ts";

test("a call without an answer is under way only in the turn that runs", () => {
  const toolCalls = [{ id: "c", name: "t", input: {} }];
  const messages: Message[] = [
    {
      id: "m",
      role: "assistant",
      status: "complete",
      content: "",
      toolCalls,
      timestamp: 1,
      runId: "r",
      attempt: 1,
      seq: 1,
    },
  ];
  expect(
    receive({ ...emptyConversation, run: "r" }, { type: "history", messages }).entries[0]?.calls[0]?.abandoned,
  ).toBeUndefined();
  expect(receive(emptyConversation, { type: "history", messages }).entries[0]?.calls[0]?.abandoned).toBe(true);
});

test("older messages come page by page, without a hole and without repeats", () => {
  const agent = new AgentDouble();
  runTurns(agent, 60);
  const reader = new ReaderDouble(agent);
  expect(reader.now.entries).toHaveLength(50);
  expect(reader.now.older).toBe(true);
  const all = agent.readHistory(1000);
  const before = all.findIndex(({ id }) => id === reader.now.entries[0]?.id);
  reader.now = prependHistory(reader.now, all.slice(before - 50, before + 3), true);
  reader.now = prependHistory(reader.now, all.slice(0, before - 50), false);
  expect(reader.now.entries.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  expect(reader.now.older).toBe(false);
  reader.connect();
  expect(reader.now.entries).toHaveLength(120);
});

test("a reader who was away for longer than a history lasts is shown no hole", () => {
  const agent = new AgentDouble();
  const reader = new ReaderDouble(agent);
  runTurns(agent, 5);
  reader.leave();
  reader.after = undefined;
  runTurns(agent, 40, 5);
  reader.connect();
  expect(reader.now.entries.map(({ id }) => id)).toEqual(agent.readHistory(50).map(({ id }) => id));
  expect(reader.now.older).toBe(true);
});

test("the answer of a tool finds its call, whichever comes first", () => {
  const base = { timestamp: 1, runId: "r", attempt: 1 } as const;
  const toolResult = {
    callId: "c",
    name: "t",
    summary: "s",
    preview: "start…",
    size: 90_000,
    blob: "hash",
    mediaType: "text/plain",
  };
  const result: Message = { ...base, id: "m2", role: "tool", status: "complete", content: "", toolResult, seq: 2 };
  const call: Message = {
    ...base,
    id: "m1",
    role: "assistant",
    status: "complete",
    content: "",
    toolCalls: [{ id: "c", name: "t", input: {} }],
    seq: 1,
  };
  const only = receive(emptyConversation, { type: "history", messages: [result] });
  expect(prependHistory(only, [call], false).entries[0]?.calls[0]?.result).toMatchObject({
    blob: "hash",
    size: 90_000,
  });
  let live = receive(emptyConversation, {
    type: "tool_result",
    callId: "c",
    name: "t",
    output: "long live text",
    blob: "hash",
    runId: "r",
  });
  live = receive(live, { type: "tool_call", id: "c", name: "t", input: {}, runId: "r" });
  expect(live.entries[0]?.calls[0]?.result?.output).toBe("long live text");
  live = receive(live, { type: "message-complete", message: call });
  expect(live.entries.map(({ id }) => id)).toEqual(["m1"]);
  expect(live.entries[0]?.calls[0]?.result?.output).toBe("long live text");
});
