import type { Entry, Note } from "@thinkery/sdk/react";
import { expect, test } from "vitest";
import { type Line, buildLines } from "./lines.ts";

const entry = (id: string, seq: number | undefined, part: Partial<Entry> = {}): Entry => ({
  id,
  role: "assistant",
  stage: "done",
  text: id,
  reasoning: "",
  reasoningSize: 0,
  calls: [],
  at: 0,
  runId: "r",
  seq,
  ...part,
});
const compaction = (seq: number): Note => ({
  id: `n${seq}`,
  seq,
  at: 0,
  runId: "r",
  kind: "compaction",
  before: 9,
  after: 2,
});
const failure = (seq: number, runId = "r", error = "no"): Note => ({
  id: `n${seq}`,
  seq,
  at: 0,
  runId,
  kind: "middleware",
  middleware: "spy",
  hook: "onTick",
  error,
});
const summarizeLines = (lines: Line[]) =>
  lines.map((line) => (line.kind === "note" && line.times > 1 ? `${line.id} ×${line.times}` : line.id));

test("notes are placed between the messages they occurred between", () => {
  expect(
    summarizeLines(buildLines([entry("a", 1000), entry("b", 5000)], [compaction(3000), compaction(7000)], undefined)),
  ).toEqual(["a", "n3000", "b", "n7000"]);
});

test("streaming, queued and unsent messages come after all notes", () => {
  const entries = [
    entry("a", 1000),
    entry("b", undefined, { stage: "streaming" }),
    entry("c", undefined, { stage: "waiting" }),
  ];
  expect(summarizeLines(buildLines(entries, [compaction(3000)], undefined))).toEqual(["a", "n3000", "b", "c"]);
});

test("repeated middleware failures are shown once per turn and error", () => {
  const notes = [failure(2000), failure(3000), failure(4000, "r", "other"), failure(6000), failure(8000, "s")];
  expect(summarizeLines(buildLines([entry("a", 1000), entry("b", 5000), entry("c", 7000)], notes, undefined))).toEqual([
    "a",
    "n2000 ×3",
    "n4000",
    "b",
    "c",
    "n8000",
  ]);
});

test("a paused turn ends with what it waits for, followed by queued messages", () => {
  const calls = [
    { id: "1", name: "later", input: {} },
    { id: "2", name: "later", input: {} },
    { id: "3", name: "echo", input: {}, result: { failed: false, output: "", size: 0 } },
  ];
  const entries = [entry("a", 1000, { calls }), entry("b", undefined, { stage: "waiting", runId: "s" })];
  const lines = buildLines(entries, [], "r");
  expect(summarizeLines(lines)).toEqual(["a", "pause", "b"]);
  expect(lines[1]).toMatchObject({ waitsFor: ["later"] });
  expect(summarizeLines(buildLines(entries, [], undefined))).toEqual(["a", "b"]);
});

test("reports of sub-agents are no messages of the user", () => {
  const text = '<subagent_report task="a" type="think" status="complete">\nDone.\n</subagent_report>';
  const getKind = (part: Partial<Entry>) =>
    buildLines([entry("a", 1, { text, role: "user", ...part })], [], undefined)[0]?.kind;
  expect(getKind({ notice: true })).toBe("report");
  // Anyone can write text like this.
  expect(getKind({})).toBe("entry");
});

test("what the agent does now comes after what was said and before queued messages", () => {
  const build = (...entries: Entry[]) => buildLines(entries, [], undefined, true).map(({ id }) => id);
  const queued = entry("later", undefined, { role: "user", stage: "waiting", runId: "next" });
  expect(build(entry("a", 1))).toEqual(["a", "activity"]);
  expect(build(entry("a", 1), entry("b", undefined, { stage: "streaming" }), queued)).toEqual([
    "a",
    "b",
    "activity",
    "later",
  ]);
  expect(build()).toEqual(["activity"]);
});
