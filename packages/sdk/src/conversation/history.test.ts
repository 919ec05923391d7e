import { expect, test } from "vitest";
import type { Message } from "../protocol/message.ts";
import { AgentDouble } from "./agent-double.ts";
import { emptyConversation } from "./conversation.ts";
import { prependHistory } from "./history.ts";
import { ReaderDouble, runTurns } from "./reader-double.ts";
import { receive } from "./receive.ts";

test("a call without a result is open only in the running turn", () => {
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

test("older messages are loaded page by page, without gaps or duplicates", () => {
  const agent = new AgentDouble();
  runTurns(agent, 60);
  const reader = new ReaderDouble(agent);
  expect(reader.conversation.entries).toHaveLength(50);
  expect(reader.conversation.older).toBe(true);
  const all = agent.readHistory(1000);
  const before = all.findIndex(({ id }) => id === reader.conversation.entries[0]?.id);
  reader.conversation = prependHistory(reader.conversation, all.slice(before - 50, before + 3), true);
  reader.conversation = prependHistory(reader.conversation, all.slice(0, before - 50), false);
  expect(reader.conversation.entries.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  expect(reader.conversation.older).toBe(false);
  reader.connect();
  expect(reader.conversation.entries).toHaveLength(120);
});

test("a reader that missed more than one history frame shows no gap", () => {
  const agent = new AgentDouble();
  const reader = new ReaderDouble(agent);
  runTurns(agent, 5);
  reader.disconnect();
  reader.after = undefined;
  runTurns(agent, 40, 5);
  reader.connect();
  expect(reader.conversation.entries.map(({ id }) => id)).toEqual(agent.readHistory(50).map(({ id }) => id));
  expect(reader.conversation.older).toBe(true);
});

test("a tool result is shown with its call, whichever arrives first", () => {
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
