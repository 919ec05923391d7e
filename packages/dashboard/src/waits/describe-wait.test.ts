import type { Continuation } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { formatUntil } from "../parts/duration.ts";
import { describeWait, describeWaits, formatMoment } from "./describe-wait.ts";

const now = Date.parse("2030-05-01T12:00:00Z");
const at = "2030-05-01T12:05:00Z";
const createWait = (part: Partial<Continuation>) =>
  ({ id: "1", kind: "timer", turn: "t", createdAt: "", ...part }) as Continuation;

test("a wait is described in a few words", () => {
  const time = formatMoment(at, now);
  const texts: [Partial<Continuation>, string][] = [
    [{ dueAt: at }, `Waiting until ${time}`],
    [{ kind: "webhook", hook: "deploy" }, "Waiting for the webhook deploy"],
    [{ kind: "webhook", hook: "deploy", dueAt: at }, `Waiting for the webhook deploy, until ${time} at the latest`],
    [{ kind: "input" }, "Waiting for your answer"],
    [{ kind: "approval" }, "Waiting for your approval"],
  ];
  for (const [part, text] of texts) expect(describeWait(createWait(part), now)).toBe(text);
  expect(formatMoment("2030-05-09T12:05:00Z", now)).toContain("2030");
  expect(formatMoment("soon", now)).toBe("soon");
});

test("what a person can end is named first", () => {
  const timer = createWait({ dueAt: at });
  const question = createWait({ id: "2", kind: "input" });
  expect(describeWaits({ approvals: [], continuations: [timer, question] }, undefined, now)).toBe(
    "Waiting for your answer",
  );
  expect(describeWaits({ approvals: [], continuations: [] }, timer, now)).toMatch(/^Waiting until/);
  expect(describeWaits({ approvals: [], continuations: [] }, undefined, now)).toBeUndefined();
});

test("the time until then is formatted in its two largest units", () => {
  expect([200, 59_000, 3_720_000].map(formatUntil)).toEqual(["now", "in 59 s", "in 1 h 2 min"]);
});
