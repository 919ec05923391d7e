import type { PendingApproval } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { buildApproval, buildDenial } from "./build-answer.ts";
import { createInputDraft, toJsonDraft } from "./edit-input.ts";

const approval: PendingApproval = {
  id: "approval",
  turn: "turn",
  digest: "d".repeat(64),
  createdAt: "",
  expiresAt: "",
  calls: [
    { id: "one", name: "bash", args: { command: "ls" }, why: "" },
    { id: "two", name: "writeFile", args: { path: "a", content: "" }, why: "", decision: { approved: false } },
    { id: "three", name: "bash", args: { command: "rm a" }, why: "" },
  ],
};
const body = { approvalId: "approval", digest: approval.digest };

test("calls are approved as they are, all at once or one by one, always with the digest", () => {
  expect(buildApproval(approval, {}, "once")).toEqual({ ...body, remember: "once", approved: true });
  expect(buildApproval(approval, {}, "agent", "three")).toEqual({
    ...body,
    remember: "agent",
    decisions: [{ callId: "three", approved: true }],
  });
});

test("other inputs and results are named, and an input that was not changed is not", () => {
  const drafts = {
    one: { kind: "edit", input: createInputDraft({ command: "ls -l" }) },
    three: { kind: "result", text: "done" },
  } as const;
  expect(buildApproval(approval, drafts, "once")).toEqual({
    ...body,
    remember: "once",
    approved: true,
    decisions: [
      { callId: "one", approved: true, input: { command: "ls -l" } },
      { callId: "three", approved: true, result: "done" },
    ],
  });
  const same = { one: { kind: "edit", input: toJsonDraft({ command: "ls" }) } } as const;
  expect(buildApproval(approval, same, "once", "one")).toMatchObject({
    decisions: [{ callId: "one", approved: true }],
  });
  expect(JSON.stringify(buildApproval(approval, same, "once"))).not.toContain("input");
});

test("a draft that cannot be read stops the approval of its call only", () => {
  const drafts = { three: { kind: "edit", input: { mode: "json", text: "{" } } } as const;
  expect(buildApproval(approval, drafts, "once")).toMatchObject({ callId: "three", issue: expect.any(String) });
  expect(buildApproval(approval, drafts, "once", "one")).toMatchObject({ decisions: [{ callId: "one" }] });
});

test("a denial has its reason, and is never remembered", () => {
  expect(buildDenial(approval, " Not now. ")).toEqual({
    ...body,
    remember: "once",
    approved: false,
    reason: "Not now.",
  });
  expect(buildDenial(approval, " ", "one")).toEqual({
    ...body,
    remember: "once",
    decisions: [{ callId: "one", approved: false }],
  });
});
