import type { ChannelMessage, JobEvent, TeamAgent } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { Output } from "../output.ts";
import { AgentLines } from "./agent-lines.ts";
import { RunPrinter } from "./run-printer.ts";

function openPrinter({ isOutput = false, isLone = false } = {}) {
  const written = { out: "", err: "" };
  const output = new Output({
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.err += text) },
    env: {},
    json: false,
  });
  return { printer: new RunPrinter(output, new AgentLines(), { isOutput, isLone }), written };
}

function createMessage(change: Partial<ChannelMessage> = {}): JobEvent {
  const base = {
    id: "msg-1",
    channel: "general",
    from: "lead",
    fromKind: "agent" as const,
    content: "Hi",
    to: ["bob"],
  };
  const message: ChannelMessage = { ...base, createdAt: "2026-01-01T00:00:00Z", ...change };
  return { type: "message", agent: message.from, message };
}

function createStatus(error?: string): JobEvent {
  const inbox = { pending: 0, seen: 0, deferred: 0, givenUp: 0 };
  const base = { name: "bob", status: "failed" as const, steps: 0, tokens: 0, costUsd: 0, inbox };
  const status: TeamAgent = { ...base, ...(error === undefined ? {} : { error }) };
  return { type: "status", agent: "bob", status };
}

const createEnd = (content: string, status: "completed" | "error" | "canceled" = "completed"): JobEvent => ({
  type: "turn_end",
  agent: "bob",
  runId: "run-1",
  status,
  content,
});

function print(events: JobEvent[], options?: Parameters<typeof openPrinter>[0]) {
  const { printer, written } = openPrinter(options);
  for (const event of events) printer.apply(event);
  printer.end();
  return written;
}

test("messages say who writes to whom and where, and long ones are shortened", () => {
  const long = Array.from({ length: 30 }, (_, index) => `line ${index}`).join("\n");
  const { out, err } = print([
    createMessage(),
    createMessage({ to: [], channel: "design" }),
    createMessage({ to: ["a", "b"], channel: "design", content: "One\nTwo" }),
    createMessage({ channel: "@bob..lead", content: "\u001b[2Jpsst" }),
    createMessage({ content: "Start…", resource: "abc", size: 90_000 }),
    createMessage({ content: long }),
  ]);
  expect(out).toBe("");
  const lines = err.split("\n");
  expect(lines.slice(0, 7)).toEqual([
    "lead → bob: Hi",
    "lead → #design: Hi",
    "lead → a, b in #design: One",
    "  Two",
    "lead → bob: \ufffd[2Jpsst",
    "lead → bob: Start…",
    "  … (90000 characters in all)",
  ]);
  expect(lines.slice(-3)).toEqual(["  line 19", "  … (10 more lines)", ""]);
});

test("replies are notes about progress, but those of a lone agent are the result", () => {
  const end = createEnd("All\ndone.");
  expect(print([end]).err).toBe("bob finished: All done.\n");
  expect(print([end], { isLone: true }).err).toBe("");
  expect(print([createEnd(" "), createEnd("", "canceled")]).err).toBe("bob: the turn was canceled.\n");
});

test("serve prints messages and replies in full on stdout", () => {
  const events = [createMessage({ content: "x\n".repeat(30) }), createEnd("All\ndone.")];
  const { out, err } = print(events, { isOutput: true, isLone: true });
  expect(out).toBe(`lead → bob: x\n${"  x\n".repeat(29)}bob: All\n  done.\n`);
  expect(err).toBe("");
});

test("why an agent failed is said once, and again after it has worked", () => {
  const events = [createStatus("No key."), createStatus("No key."), createStatus(), createStatus("No key.")];
  expect(print([...events, createEnd("", "error")]).err).toBe("bob failed: No key.\n".repeat(2));
});

test("without a terminal, each tool call is a line, except those whose effect is shown anyway", () => {
  const call = (id: string, name: string): JobEvent => ({
    type: "tool_call",
    agent: "bob",
    call: { id, name, input: { path: "a" } },
  });
  const result = (callId: string, name: string): JobEvent => ({
    type: "tool_result",
    agent: "bob",
    callId,
    name,
    output: "ok",
  });
  const events = [
    call("1", "readFile"),
    call("2", "channel_send"),
    result("2", "channel_send"),
    result("1", "readFile"),
  ];
  expect(print(events).err).toBe('bob · readFile {"path":"a"} → ok\n');
});

test("while somebody is asked, nothing else is printed, and then all of it", () => {
  const { printer, written } = openPrinter();
  printer.setSuspended(true);
  printer.apply(createMessage());
  printer.note("Reconnected.");
  expect(written.err).toBe("");
  printer.setSuspended(false);
  expect(written.err).toBe("lead → bob: Hi\nReconnected.\n");
});
