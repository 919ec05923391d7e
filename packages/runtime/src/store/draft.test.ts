import type { AgentEvent, NewEvent } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { type Draft, reduceDraft, toDraftMessage } from "./draft.ts";

let seq = 0;
const numberEvent = (event: NewEvent) =>
  ({ ...event, seq: ++seq, ts: new Date(1000).toISOString(), threadId: "a~b" }) as AgentEvent;
const buildDraft = (...events: NewEvent[]) =>
  events.reduce<Draft | undefined>((draft, event) => reduceDraft(draft, numberEvent(event)), undefined);

const started: NewEvent = {
  type: "model.started",
  data: { runId: "r", step: 1, messageId: "m", model: "x:y", attempt: 1 },
};
const delta = (text: string, reasoning?: string): NewEvent => ({
  type: "model.delta",
  data: { runId: "r", delta: text, ...(reasoning ? { reasoning } : {}) },
});

test("deltas extend the draft", () => {
  expect(buildDraft(started, delta("Hel", "hm"), delta("lo"))).toMatchObject({
    messageId: "m",
    text: "Hello",
    reasoning: "hm",
    reasoningSize: 2,
  });
});

test("reasoning is truncated to 3,000 characters and its full size is kept", () => {
  const draft = buildDraft(started, delta("", "t".repeat(2000)), delta("", "t".repeat(2000)));
  expect(draft?.reasoning).toHaveLength(3000);
  expect(draft?.reasoningSize).toBe(4000);
  expect(draft && toDraftMessage(draft)).toMatchObject({ status: "streaming", reasoningFullSize: 4000 });
});

test("a call that fails, is interrupted or is canceled leaves no draft", () => {
  const ends: NewEvent[] = [
    { type: "model.failed", data: { runId: "r", step: 1, attempt: 1, kind: "network", error: "" } },
    { type: "run.resumed", data: { runId: "r", reason: "recovered", attempt: 1, crashes: 0, boot: "" } },
    { type: "run.canceled", data: { runId: "r" } },
  ];
  for (const end of ends) expect(buildDraft(started, delta("Hello"), end)).toBeUndefined();
});
