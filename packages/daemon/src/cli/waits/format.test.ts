import type { Approval, AskedCall } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { parseAnswer } from "./answer-value.ts";
import { formatApproval, formatCalls, formatExpiry, formatPreview, formatQuestion, summarizeCalls } from "./format.ts";

const call = (fields: Partial<AskedCall> = {}): AskedCall => ({
  id: "call-1",
  name: "writeFile",
  args: { path: "a.txt" },
  why: "It needs approval.",
  ...fields,
});

const diff = { kind: "diff", path: "a.txt", diff: "@@ -1 +1 @@\n-one\n+two\n" } as const;
const mark = (line: string) => `<${line}>`;

test("each kind of preview has its own form, and only diffs are colored", () => {
  expect(formatPreview({ args: {}, preview: diff }, mark)).toEqual(["<@@ -1 +1 @@>", "<-one>", "<+two>"]);
  expect(formatPreview({ args: {}, preview: { kind: "command", command: "ls\nrm x" } }, mark)).toEqual([
    "$ ls",
    "  rm x",
  ]);
  const request = { kind: "request", method: "POST", url: "https://example.com", body: "x" } as const;
  expect(formatPreview({ args: {}, preview: request }, mark)).toEqual(["POST https://example.com", "", "x"]);
  expect(formatPreview({ args: {}, preview: { kind: "code", code: "return 1" } }, mark)).toEqual(["return 1"]);
  expect(formatPreview({ args: { a: 1 } }, mark)).toEqual(["{", '  "a": 1', "}"]);
});

test("what a model wrote cannot control the terminal", () => {
  const evil = "\u001b[2Jx\u009b31m\u202e";
  const calls = [call({ name: evil, why: evil, args: { evil }, preview: { kind: "command", command: evil } })];
  const shown = [
    ...formatCalls(calls),
    summarizeCalls(calls),
    ...formatQuestion({ prompt: evil, schema: { enum: [evil] } }),
  ];
  // oxlint-disable-next-line no-control-regex
  expect(shown.join("")).not.toMatch(/[\u001b\u009b\u202e]/);
});

test("calls are summarized in one line", () => {
  expect(summarizeCalls([call({ preview: diff })])).toBe("writeFile a.txt");
  expect(summarizeCalls([call({ name: "bash", args: {}, preview: { kind: "command", command: "ls" } })])).toBe(
    "bash $ ls",
  );
  expect(summarizeCalls([call(), call({ id: "call-2" })])).toBe('writeFile {"path":"a.txt"} and 1 more');
});

test("several calls are numbered", () => {
  expect(formatCalls([call({ preview: diff }), call({ preview: diff })]).filter((line) => line.includes(":"))).toEqual([
    "1. writeFile: It needs approval.",
    "2. writeFile: It needs approval.",
  ]);
});

test("the details of an approval include its digest, its expiry and what was decided", () => {
  const approval: Approval = {
    id: "a1",
    status: "pending",
    agent: "global~alice",
    turn: "t1",
    calls: [
      call({ preview: diff, remember: "a.txt" }),
      call({ id: "call-2", decision: { approved: false, reason: "No." } }),
    ],
    digest: "d1",
    createdAt: "2026-01-01T00:00:00.000Z",
    expiresAt: "2026-01-02T00:00:00.000Z",
  };
  const formatFields = (entries: [string, string | undefined][]) => JSON.stringify(Object.fromEntries(entries));
  const now = Date.parse("2026-01-01T12:00:00.000Z");
  const [fields, first, second] = formatApproval(approval, { target: "alice", formatFields, now }).split("\n\n");
  expect(JSON.parse(fields ?? "")).toMatchObject({
    agent: "alice",
    digest: "d1",
    expires: `${approval.expiresAt} (in 12h)`,
  });
  expect(first).toBe(
    "writeFile (call call-1)\n  It needs approval.\n  With --remember: writeFile a.txt\n    @@ -1 +1 @@\n    -one\n    +two",
  );
  expect(second).toContain("writeFile (call call-2), denied: No.");
  expect(formatExpiry(approval.expiresAt, Date.parse(approval.expiresAt))).toBe("expired");
});

test("a question says what its answer has to look like", () => {
  expect(formatQuestion({ prompt: "Which?" })).toEqual(["Which?"]);
  expect(formatQuestion({ prompt: "Which?", schema: { enum: ["a", "b"] } })).toEqual(["Which?", "One of: a, b"]);
  expect(formatQuestion({ prompt: "Sure?", schema: { type: "boolean" } })).toEqual(["Sure?", "Answer true or false."]);
  expect(formatQuestion({ prompt: "Which?", schema: { type: "object" } }).join("\n")).toContain('"type": "object"');
});

test("an answer is text, or JSON where the schema asks for it", () => {
  expect(parseAnswer("5", undefined)).toBe("5");
  expect(parseAnswer("5", { type: "string" })).toBe("5");
  expect(parseAnswer("5", { enum: ["5", "6"] })).toBe("5");
  expect(parseAnswer("5", { type: "number" })).toBe(5);
  expect(parseAnswer("five", { type: "number" })).toBe("five");
  expect(parseAnswer('"5"', { type: "string" }, true)).toBe("5");
  expect(() => parseAnswer("{", { type: "object" }, true)).toThrow("Expected the value as JSON");
});
