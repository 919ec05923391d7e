import type { SubagentEvent } from "@thinkery/sdk";
import { afterEach, expect, test, vi } from "vitest";
import { Output } from "../output.ts";
import { Printer } from "./printer.ts";
import { SubagentLines } from "./subagent-lines.ts";

const child = (taskId: string) => ({ taskId, childThreadId: `global~alice/subagent-${taskId}` });
const at = (second: number) => ({
  seq: second + 1,
  ts: new Date(second * 1000).toISOString(),
  threadId: "global~alice",
});

const createSpawned = (taskId: string, title: string, queued = false) =>
  ({
    ...at(0),
    type: "subagent.spawned",
    data: {
      ...child(taskId),
      facetName: `subagent-${taskId}`,
      token: "t",
      agentType: "think",
      title,
      message: title,
      from: { user: "owner", context: {} },
      wait: true,
      workspace: "shared",
      timeoutMs: 1000,
      ...(queued ? { queued } : {}),
    },
  }) as SubagentEvent;

const createAction = (taskId: string, toolName: string, input: unknown, step: number) =>
  ({
    ...at(3),
    type: "subagent.action",
    data: { ...child(taskId), agent: "a", number: 1, callId: "c", toolName, action: "run", input, step, ms: 1 },
  }) as SubagentEvent;

const createWaiting = (taskId: string, waitingFor?: "approval" | "question") =>
  ({
    ...at(4),
    type: "subagent.waiting",
    data: { ...child(taskId), ...(waitingFor ? { waitingFor } : {}) },
  }) as SubagentEvent;

const createCompleted = (taskId: string, status: string, error?: string) =>
  ({
    ...at(12),
    type: "subagent.completed",
    data: {
      ...child(taskId),
      status,
      ...(error === undefined ? {} : { error }),
      usage: { calls: 1, inputTokens: 1, outputTokens: 1, costUsd: 0 },
      steps: 4,
      ms: 12_000,
    },
  }) as SubagentEvent;

afterEach(() => void vi.useRealTimers());

test("each sub-agent that works has a line with its step, its time and what it does", () => {
  const lines = new SubagentLines();
  expect(lines.apply(createSpawned("1", "Run the\ntests"))).toBe("↳ Run the tests  started");
  expect(lines.apply(createSpawned("2", "Read the log", true))).toBe("↳ Read the log  waiting");
  expect(lines.apply(createAction("1", "bash", JSON.stringify({ command: "npm test" }), 3))).toBeUndefined();
  expect(lines.format(12_400, 80)).toEqual(["↳ Run the tests  step 3  12 s  bash npm test", "↳ Read the log  waiting"]);
  expect(lines.format(12_400, 20)[0]).toBe("↳ Run the tests  st…");

  lines.applyFrame({ type: "subagent_text_delta", taskId: "1", delta: "One.\nTwo \u001b[31mfails" });
  expect(lines.format(13_000, 80)[0]).toBe("↳ Run the tests  step 3  13 s  Two \ufffd[31mfails");
  lines.applyFrame({ type: "subagent_tool_call", taskId: "1", toolName: "bash", input: { command: "git log" } });
  expect(lines.format(13_000, 80)[0]).toBe("↳ Run the tests  step 3  13 s  bash git log");
  lines.applyFrame({ type: "subagent_tool_result", taskId: "1", toolName: "bash", output: "" });
  expect(lines.format(13_000, 80)[0]).toBe("↳ Run the tests  step 3  13 s  bash npm test");

  expect(lines.apply(createWaiting("1", "approval"))).toBeUndefined();
  expect(lines.format(14_000, 80)[0]).toBe("↳ Run the tests  waiting for approval");
  expect(lines.apply(createWaiting("1"))).toBeUndefined();
  expect(lines.format(14_000, 80)[0]).toBe("↳ Run the tests  step 3  14 s  bash npm test");

  expect(lines.apply(createCompleted("1", "complete"))).toBe("↳ Run the tests  complete  4 steps  12 s");
  expect(lines.apply(createCompleted("1", "complete"))).toBeUndefined();
  expect(lines.format(13_000, 80)).toHaveLength(1);
  expect(lines.list.map(({ status }) => status)).toEqual(["complete", "waiting"]);
});

test("one that spends a budget, and whose fork is merged, starts once and ends once", () => {
  const lines = new SubagentLines();
  const usage = { calls: 1, inputTokens: 1, outputTokens: 1, costUsd: 0 };
  const spending = { days: [], reserved: { steps: 0, tokens: 0, costUsd: 0 } };
  const events = [
    createSpawned("1", "Run the tests", true),
    { ...at(1), type: "subagent.started", data: child("1") },
    { ...at(2), type: "subagent.spent", data: { ...child("1"), ...spending, usage } },
    {
      ...at(3),
      type: "subagent.reported",
      data: { ...child("1"), ...spending, status: "complete", usage, steps: 4, ms: 1 },
    },
    createCompleted("1", "complete"),
    { ...at(13), type: "subagent.closed", data: child("1") },
    { ...at(14), type: "subagent.deleted", data: child("1") },
  ] as SubagentEvent[];
  expect(events.map((event) => lines.apply(event))).toEqual([
    "↳ Run the tests  waiting",
    "↳ Run the tests  started",
    undefined,
    undefined,
    "↳ Run the tests  complete  4 steps  11 s",
    undefined,
    undefined,
  ]);
});

test("sub-agents of other turns are not shown, and many of them do not fill the screen", () => {
  const lines = new SubagentLines();
  expect(lines.apply(createAction("9", "bash", "{}", 1))).toBeUndefined();
  expect(lines.apply(createCompleted("9", "complete"))).toBeUndefined();
  expect(lines.list).toEqual([]);
  for (let index = 0; index < 32; index++) lines.apply(createSpawned(`t${index}`, `Task ${index}`));
  expect(lines.format(0, 80).slice(-2)).toEqual(["↳ Task 9  step 1  0 s", "↳ and 22 more"]);
});

/** Returns what a terminal shows, or the text as it is written to a pipe. */
function print(tty: boolean, use: (printer: Printer) => void): string[] {
  let written = "";
  const sink = { write: (text: string | Uint8Array) => (written += String(text)), isTTY: tty, columns: 60 };
  const output = new Output({ stdout: sink, stderr: sink, env: { NO_COLOR: "1" }, json: false });
  use(new Printer(output, { live: true }));
  const lines: string[] = [""];
  const escape = "\u001b\\[";
  for (const part of written.split(new RegExp(`(\n|${escape}\\d+A\r${escape}J)`))) {
    const up = new RegExp(`^${escape}(\\d+)A`).exec(part)?.[1];
    if (up !== undefined) lines.splice(lines.length - 1 - Number(up), Number(up));
    else if (part === "\n") lines.push("");
    else lines[lines.length - 1] += part;
  }
  return lines;
}

test("on a terminal the lines stay below everything else and are gone in the end; a pipe gets start and end", () => {
  vi.useFakeTimers({ now: 0 });
  const begin = (printer: Printer) => {
    printer.onText("Let me ask.");
    printer.onParagraph();
    printer.onSubagent(createSpawned("1", "Run the tests"));
    printer.onNote("A note.");
    vi.advanceTimersByTime(2000);
  };
  const finish = (printer: Printer) => {
    begin(printer);
    printer.onSubagent(createCompleted("1", "failed", "The sub-agent failed: no key"));
    printer.onText("It failed.");
    printer.end();
    vi.advanceTimersByTime(5000);
  };
  expect(print(true, begin)).toEqual(["Let me ask.", "A note.", "↳ Run the tests  step 1  2 s", ""]);
  const end = "↳ Run the tests  failed  4 steps  12 s  The sub-agent failed: no key";
  expect(print(true, finish)).toEqual(["Let me ask.", "A note.", end, "It failed.", ""]);
  expect(print(false, finish)).toEqual(["Let me ask.", "↳ Run the tests  started", "A note.", end, "It failed.", ""]);
});

test("nothing is drawn in the middle of a line of the response", () => {
  vi.useFakeTimers({ now: 0 });
  const shown = print(true, (printer) => {
    printer.onSubagent(createSpawned("1", "Run the tests"));
    printer.onText("I go on");
    vi.advanceTimersByTime(3000);
    printer.onText(" meanwhile.");
  });
  expect(shown).toEqual(["I go on meanwhile."]);
});
