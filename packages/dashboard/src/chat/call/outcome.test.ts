import { expect, test } from "vitest";
import { parseCommandOutput, parseProgress, formatElapsed, describeError, parseCodeOutput } from "./outcome.ts";

test("the return value and the console output of code are separated", () => {
  expect(parseCodeOutput("42")).toEqual({ value: "42", console: "" });
  expect(parseCodeOutput("42\n\nconsole:\none\n\ntwo")).toEqual({ value: "42", console: "one\n\ntwo" });
  expect(parseCodeOutput("console:\nonly this")).toEqual({ value: "", console: "only this" });
  expect(parseCodeOutput("two\n\nparagraphs")).toEqual({ value: "two\n\nparagraphs", console: "" });
  // Console output may contain the marker; nothing of it is lost.
  expect(parseCodeOutput("x\n\nconsole:\na\n\nconsole:\nb")).toEqual({ value: "x", console: "a\n\nconsole:\nb" });
});

test("the last line of a command's output says how it ended", () => {
  expect(parseCommandOutput("ls: no such file\n\nexit code 2")).toEqual({
    output: "ls: no such file",
    ending: "exit code 2",
  });
  expect(parseCommandOutput("exit code 1")).toEqual({ output: "", ending: "exit code 1" });
  expect(parseCommandOutput("a\n\nended by a signal")).toEqual({ output: "a", ending: "ended by a signal" });
  expect(parseCommandOutput("echo says: exit code 1")).toEqual({ output: "echo says: exit code 1" });
  expect(parseCommandOutput("")).toEqual({ output: "" });
});

test("a run waits for a sandbox until it starts or writes output", () => {
  const queued = "Waiting for a sandbox: 3 runs ahead.\nWaiting for a sandbox: 1 run ahead.\n";
  expect(parseProgress(queued)).toEqual({ waiting: "Waiting for a sandbox: 1 run ahead.", output: "" });
  expect(parseProgress(`${queued}Got a sandbox, running.\n`)).toEqual({ output: "" });
  expect(parseProgress(`${queued}Got a sandbox, running.\nhello\n`)).toEqual({ output: "hello\n" });
  expect(parseProgress(`${queued}hello\n`)).toEqual({ output: "hello\n" });
  expect(parseProgress("hello\n")).toEqual({ output: "hello\n" });
  expect(parseProgress("")).toEqual({ output: "" });
});

test("an error is described by its code", () => {
  const describe = (errorCode: Parameters<typeof describeError>[0]["errorCode"], output = "") =>
    describeError({ errorCode, output });
  expect(describe("timeout", "The run did not finish within 30 s and was stopped.")).toBe("timed out after 30 s");
  expect(describe("timeout", "The command did not finish within 1.5 s and was stopped.")).toBe("timed out after 1.5 s");
  expect(describe("timeout", "more than I can say")).toBe("timed out");
  expect(describe("limit", "The run exceeded its memory limit of 128 MB, so its sandbox was stopped.")).toBe(
    "out of memory",
  );
  expect(describe("limit", "The run exceeded its CPU time limit, so its sandbox was stopped.")).toBe("limit exceeded");
  expect(describe("sandbox_lost")).toBe("sandbox lost");
  expect(describe(undefined)).toBe("failed");
  // A host that is newer than the page.
  expect(describe("novel" as "threw")).toBe("failed");
});

test("durations are as precise as needed", () => {
  expect([0, 3.4, 999, 1000, 1250, 59_900, 125_000].map(formatElapsed)).toEqual([
    "0 ms",
    "3 ms",
    "999 ms",
    "1 s",
    "1.3 s",
    "59.9 s",
    "2 min 5 s",
  ]);
});
