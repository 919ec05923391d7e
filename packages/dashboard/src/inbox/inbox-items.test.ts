import type { Approval, Question } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { type Inbox, parseAgentPlace } from "../api/inbox.ts";
import { type InboxItem, listInboxItems as listItems, mergeItems } from "./inbox-items.ts";
import { findAsk } from "./use-asks.ts";

const createApproval = (id: string, second: number, part: Partial<Approval> = {}): Approval => ({
  id,
  status: "pending",
  agent: "global~alice",
  turn: "turn",
  calls: [{ id: "1", name: "bash", args: {}, why: "" }],
  digest: "",
  createdAt: new Date(second * 1000).toISOString(),
  expiresAt: "",
  ...part,
});
const question: Question = { id: "q", agent: "review@bob~al/sub", turn: "t", createdAt: new Date(5000).toISOString() };
const listInboxItems = (inbox: Inbox) => listItems(inbox, "bob");
const summarize = (items: InboxItem[]) => items.map(({ id, isOpen }) => `${id} ${isOpen}`);

test("items of all kinds are listed, oldest first, with the agent that asks", () => {
  const items = listInboxItems({ approvals: [createApproval("a", 9), createApproval("b", 1)], questions: [question] });
  expect(summarize(items)).toEqual(["b true", "q true", "a true"]);
  expect(items[1]?.place).toEqual({ agency: "review", agent: "al/sub" });
  expect(items[2]?.place).toEqual({ agency: "global@owner", agent: "alice" });
  expect(parseAgentPlace("nonsense", "bob")).toEqual({ agency: "", agent: "nonsense" });
});

test("an item that is gone stays where it was, and new ones come after those that were shown", () => {
  const before = listInboxItems({ approvals: [createApproval("a", 9), createApproval("b", 1)], questions: [] });
  const now = listInboxItems({ approvals: [createApproval("a", 9)], questions: [question] });
  expect(summarize(mergeItems(before, now, {}))).toEqual(["b false", "a true", "q true"]);
});

test("an answer of ours is shown at once, and never replaced by an older list", () => {
  const calls = [{ id: "1", name: "bash", args: {}, why: "", decision: { approved: true } }];
  const shown = listInboxItems({ approvals: [createApproval("a", 1)], questions: [] });
  const partly = createApproval("a", 1, { calls });
  expect(mergeItems(shown, shown, { a: partly })[0]).toMatchObject({ isOpen: true, approval: { calls } });
  const answered = createApproval("a", 1, { calls, status: "approved" });
  expect(summarize(mergeItems(shown, shown, { a: answered }))).toEqual(["a false"]);
  const listed = listInboxItems({ approvals: [partly], questions: [] });
  expect(mergeItems(shown, listed, { a: createApproval("a", 1) })[0]).toMatchObject({ approval: { calls } });
});

test("a sub-agent's own ask comes before those of the sub-agents below it", () => {
  const asks = [
    { agent: "alice/a/b", kind: "approval" },
    { agent: "alice/a", kind: "answer" },
    { agent: "alice/ab", kind: "approval" },
  ] as const;
  expect(findAsk(asks, "alice/a")?.kind).toBe("answer");
  expect(findAsk(asks.slice(0, 1), "alice/a")?.agent).toBe("alice/a/b");
  expect(findAsk(asks, "alice/b")).toBeUndefined();
});
