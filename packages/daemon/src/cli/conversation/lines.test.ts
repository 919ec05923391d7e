import { expect, test } from "vitest";
import {
  formatCall,
  formatCapability,
  formatCost,
  formatFailure,
  formatMessage,
  toOneLine,
  formatOpenCall,
  formatRetry,
  formatTodos,
} from "./lines.ts";

test("a call and its result are one sanitized line", () => {
  expect(formatCall({ name: "bash", input: { command: "ls" } }, { output: "a\nb\n" })).toBe(
    '· bash {"command":"ls"} → a b',
  );
  expect(formatCall({ name: "listTasks", input: {} }, { output: "" })).toBe("· listTasks → done");
  expect(formatCall({ name: "bash", input: undefined }, { output: "\u001b[31mno", failed: true })).toBe(
    "· bash → failed: \ufffd[31mno",
  );
  const long = formatCall({ name: "writeFile", input: { content: "x".repeat(1e6) } }, { output: "y".repeat(1e6) });
  expect(long.length).toBeLessThan(170);
  expect(long).not.toContain("\n");
});

test("code shows its first line, a shell command is shown as is", () => {
  const code = "\n  const answer: number = 6 * 7;\n\nreturn answer;\n";
  expect(formatCall({ name: "executeCode", input: { code } }, { output: "42" })).toBe(
    "· executeCode const answer: number = 6 * 7; (2 lines) → 42",
  );
  expect(formatCall({ name: "executeCode", input: { code: "return \u001b[2J1" } }, { output: "" })).toBe(
    "· executeCode return \ufffd[2J1 → done",
  );
  expect(formatCall({ name: "sandbox", input: { command: "ls -l\nwc -l" } }, { output: "no", failed: true })).toBe(
    "· sandbox $ ls -l wc -l → failed: no",
  );
  expect(formatCall({ name: "sandbox", input: { process: "p1", stop: true } }, { output: "stopped" })).toBe(
    '· sandbox {"process":"p1","stop":true} → stopped',
  );
  // A model may send any input, whatever the tool's schema.
  for (const input of [null, 7, "x", { code: 7 }, ["code"]])
    expect(formatOpenCall({ name: "executeCode", input })).toBe(`· executeCode ${JSON.stringify(input)}`);
});

test("a call made by code is one line with its duration", () => {
  const call = { id: "c.1", name: "fetch", input: '{"url":"https://a"}', seq: 1, ms: 12.4 };
  expect(formatCapability({ ...call, state: "done", summary: "GET https://a → 200" })).toBe(
    '  · fetch {"url":"https://a"} → GET https://a → 200 (12 ms)',
  );
  expect(formatCapability({ ...call, input: "{}", state: "failed", error: "denied\nby rule" })).toBe(
    "  · fetch → failed: denied by rule (12 ms)",
  );
});

test("long text is cut between characters, not inside one", () => {
  expect(toOneLine("🙂🙂🙂🙂", 3)).toBe("🙂🙂…");
  expect(toOneLine("  a \n\t b  ", 10)).toBe("a b");
});

test("todos, retries and failures are formatted", () => {
  expect(
    formatTodos([
      { content: "one", status: "completed" },
      { content: "two", status: "in_progress" },
      { content: "three", status: "pending" },
    ]),
  ).toEqual(["  [x] one", "  [~] two", "  [ ] three"]);
  expect(formatRetry("overloaded", 2400)).toBe("The model did not respond (overloaded); retrying in 2 s.");
  expect(formatRetry("overloaded", 10)).toContain("retrying now.");
  expect(formatFailure({ message: "No key.", advice: "Set OPENAI_API_KEY." })).toBe("No key. Set OPENAI_API_KEY.");
});

test("an unknown cost is not shown as zero", () => {
  expect([null, 0, 0.00123, 1.005].map(formatCost)).toEqual(["unknown", "$0", "$0.0012", "$1.00"]);
});

test("every kind of stored message has one line", () => {
  const base = { id: "m", status: "complete", timestamp: 0, runId: "r", attempt: 1 } as const;
  expect(formatMessage({ ...base, role: "user", content: "hi\nthere" }, 50)).toBe("> hi there");
  const report = '<subagent_report task="task-1" type="tester" status="complete">\nAll 40\npass\n</subagent_report>';
  expect(formatMessage({ ...base, role: "user", content: report, notice: true }, 80)).toBe(
    "Report of sub-agent task-1 (tester), complete: All 40 pass",
  );
  expect(formatMessage({ ...base, role: "user", content: report }, 20)).toBe("> <subagent_report ta…");
  expect(
    formatMessage({ ...base, role: "assistant", content: "", toolCalls: [{ id: "c", name: "bash", input: {} }] }, 50),
  ).toBe("(calls bash)");
  expect(formatMessage({ ...base, role: "assistant", content: "", status: "error", error: "No key." }, 50)).toBe(
    "No key.",
  );
  const toolResult = { callId: "c", name: "bash", summary: "2 files", preview: "a\nb", size: 3 };
  expect(formatMessage({ ...base, role: "tool", content: "", toolResult }, 50)).toBe("· bash → 2 files");
});
