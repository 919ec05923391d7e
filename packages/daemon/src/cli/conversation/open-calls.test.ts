import { expect, test } from "vitest";
import { OpenCalls } from "./open-calls.ts";

const make = { id: "1", name: "sandbox", input: { command: "make" } };
const fetch = { id: "c.1", name: "fetch", input: "{}", state: "done", seq: 1, ms: 3, summary: "200" } as const;

test("a call without progress is one line", () => {
  expect(new OpenCalls().complete(make, { output: "ok" })).toEqual(["· sandbox $ make → ok"]);
});

test("progress is shown below the call line by line, followed by the result", () => {
  const calls = new OpenCalls();
  expect(calls.addProgress(make, "comp")).toEqual([]);
  expect(calls.addProgress(make, "iling\n  a.c\nlin")).toEqual(["· sandbox $ make", "  │ compiling", "  │   a.c"]);
  expect(calls.addCapability(make, fetch)).toEqual(["  · fetch → 200 (3 ms)"]);
  expect(calls.complete(make, { output: "exit code 2", failed: true })).toEqual(["  │ lin", "  → failed: exit code 2"]);
  expect(calls.complete(make, { output: "ok" })).toEqual(["· sandbox $ make → ok"]);
});

test("lines of concurrent calls are attributed to their call", () => {
  const calls = new OpenCalls();
  const other = { id: "2", name: "executeCode", input: { code: "run()" } };
  expect(calls.addProgress(make, "a\n")).toEqual(["· sandbox $ make", "  │ a"]);
  expect(calls.addProgress(other, "b\n")).toEqual(["· executeCode run()", "  │ b"]);
  expect(calls.addProgress(make, "c\n")).toEqual(["· sandbox $ make", "  │ c"]);
  expect(calls.complete(other, { output: "done" })).toEqual(["· executeCode run() → done"]);
  expect(calls.complete(make, { output: "done" })).toEqual(["· sandbox $ make → done"]);
});

test("a flood of lines is truncated, an endless line is bounded, and a redrawn progress bar shows its last state", () => {
  const calls = new OpenCalls();
  const lines = calls.addProgress(make, "y\n".repeat(10_000));
  expect(lines.length).toBe(502);
  expect(lines.at(-1)).toBe("  │ … output truncated");
  expect(calls.addProgress(make, "y\n".repeat(10_000))).toEqual([]);
  const endless = new OpenCalls();
  endless.addProgress(make, "begun ");
  for (let piece = 0; piece < 1000; piece++) expect(endless.addProgress(make, "x".repeat(1000))).toEqual([]);
  const [, line = ""] = endless.addProgress(make, "\n");
  expect(line).toMatch(/^ {2}│ x{199}…$/);
  expect(new OpenCalls().addProgress(make, "10 %\r50 %\r100 %\r\ndone\r\n")).toEqual([
    "· sandbox $ make",
    "  │ 100 %",
    "  │ done",
  ]);
});

test("many calls made by code are summarized", () => {
  const calls = new OpenCalls();
  const lines = Array.from({ length: 70 }, () => calls.addCapability(make, fetch)).flat();
  expect(lines.length).toBe(51);
  expect(calls.complete(make, { output: "ok" })).toEqual(["  · … and 20 more calls", "  → ok"]);
});
