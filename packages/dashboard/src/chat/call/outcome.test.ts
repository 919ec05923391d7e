import { expect, test } from "vitest";
import { parseCommandOutput, parseProgress, formatElapsed, describeError, parseCodeOutput } from "./outcome.ts";

test("what code gave back and what it wrote are told apart", () => {
  expect(parseCodeOutput("42")).toEqual({ value: "42", console: "" });
  expect(parseCodeOutput("42\n\nconsole:\none\n\ntwo")).toEqual({ value: "42", console: "one\n\ntwo" });
  expect(parseCodeOutput("console:\nonly this")).toEqual({ value: "", console: "only this" });
  expect(parseCodeOutput("two\n\nparagraphs")).toEqual({ value: "two\n\nparagraphs", console: "" });
  // What code writes may look like the mark; nothing of it is lost.
  expect(parseCodeOutput("x\n\nconsole:\na\n\nconsole:\nb")).toEqual({ value: "x", console: "a\n\nconsole:\nb" });
});

test("how a command ended is its last line", () => {
  expect(parseCommandOutput("ls: no such file\n\nexit code 2")).toEqual({
    written: "ls: no such file",
    ending: "exit code 2",
  });
  expect(parseCommandOutput("exit code 1")).toEqual({ written: "", ending: "exit code 1" });
  expect(parseCommandOutput("a\n\nended by a signal")).toEqual({ written: "a", ending: "ended by a signal" });
  expect(parseCommandOutput("echo says: exit code 1")).toEqual({ written: "echo says: exit code 1" });
  expect(parseCommandOutput("")).toEqual({ written: "" });
});

test("a run that waits for a sandbox says so until it writes or begins", () => {
  const waited = "Waiting for a sandbox: 3 runs go first.\nWaiting for a sandbox: 1 run goes first.\n";
  expect(parseProgress(waited)).toEqual({ waits: "Waiting for a sandbox: 1 run goes first.", written: "" });
  expect(parseProgress(`${waited}It has a sandbox and runs.\n`)).toEqual({ written: "" });
  expect(parseProgress(`${waited}It has a sandbox and runs.\nhello\n`)).toEqual({ written: "hello\n" });
  expect(parseProgress(`${waited}hello\n`)).toEqual({ written: "hello\n" });
  expect(parseProgress("hello\n")).toEqual({ written: "hello\n" });
  expect(parseProgress("")).toEqual({ written: "" });
});

test("a failure is named by its kind", () => {
  const words = (errorCode: Parameters<typeof describeError>[0]["errorCode"], output = "") =>
    describeError({ errorCode, output });
  expect(words("timeout", "The run took more than 30 s and was ended.")).toBe("ended: took more than 30 s");
  expect(words("timeout", "The command did not end within 1.5 s and was ended.")).toBe("ended: took more than 1.5 s");
  expect(words("timeout", "more than I can say")).toBe("ended: took too long");
  expect(words("limit", "The run used more memory than it may have (128 MB)")).toBe("ended: out of memory");
  expect(words("limit", "more time of the processor")).toBe("ended: used too much");
  expect(words("sandbox_lost")).toBe("its sandbox was lost");
  expect(words(undefined)).toBe("failed");
  // A host that is newer than the page.
  expect(words("novel" as "threw")).toBe("failed");
});

test("times are as exact as they need to be", () => {
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
