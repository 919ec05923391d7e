import type { Approval, AskedCall } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { describeDecision, describeOutcome, listRemembered } from "./describe-approval.ts";
import { showHidden } from "./show-hidden.ts";

const createApproval = (part: Partial<Approval>) => ({ calls: [], status: "approved", ...part }) as unknown as Approval;
const decided = (...decisions: AskedCall["decision"][]) => decisions.map((decision) => ({ decision })) as AskedCall[];

test("what is remembered is listed once per kind of call, without calls that were changed", () => {
  const calls = [
    { id: "1", name: "bash", remember: "rm *" },
    { id: "2", name: "bash", remember: "rm *" },
    { id: "3", name: "bash" },
    { id: "4", name: "writeFile" },
  ];
  expect(listRemembered(calls, ({ id }) => id === "4")).toEqual([{ tool: "bash", match: "rm *" }, { tool: "bash" }]);
});

test("an outcome says what was decided, by whom, and why", () => {
  const outcomes: [Partial<Approval>, string][] = [
    [{ answeredBy: "maria", calls: decided({ approved: true }) }, "Approved by maria"],
    [{ status: "denied", answeredBy: "maria", reason: "No." }, "Denied by maria: No."],
    [{ status: "denied", calls: decided({ approved: false, reason: "Why?" }) }, "Denied: Why?"],
    [{ answeredBy: "bob", calls: decided({ approved: true }, { approved: false }) }, "1 of 2 calls approved by bob"],
    [{ status: "expired" }, "Expired: nobody answered in time, or the turn ended."],
  ];
  for (const [part, text] of outcomes) expect(describeOutcome(createApproval(part))).toBe(text);
});

test("a decision says whether the call ran as it was asked", () => {
  expect(
    [{ approved: true }, { approved: true, input: {} }, { approved: true, result: "" }].map(describeDecision),
  ).toEqual(["Approved", "Approved with changes", "Answered in the tool’s place"]);
});

test("nothing in a call is invisible or reordered", () => {
  const hidden = ["\u200b", "\u2060", "\u202e", "\u00ad", "\u{e0041}", "\ufe0f", "\u3164", "\u2800", "\u2066"];
  for (const character of hidden) expect(showHidden(`rm${character} a`), character).toBe("rm\ufffd a");
  expect(showHidden("naïve\n\t日本 → 😀")).toBe("naïve\n\t日本 → 😀");
});
