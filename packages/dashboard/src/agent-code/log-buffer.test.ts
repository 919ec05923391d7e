import type { AgentLogLine } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { addLines, countNewer, formatLines, maxBufferedChars, maxBufferedLines } from "./log-buffer.ts";

const createLine = (seq: number, text = `line ${seq}`): AgentLogLine => ({
  seq,
  text,
  at: "2026-01-01T10:00:00.000Z",
  level: "info",
  version: 1,
});
const createLines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => createLine(from + index));
const listNumbers = (lines: readonly AgentLogLine[]) => lines.map(({ seq }) => seq);

test("lines are added once, even if they are read twice", () => {
  const first = addLines(undefined, { logs: createLines(3, 5), last: 5 });
  const second = addLines(first, { logs: createLines(5, 7), last: 7 });
  expect(listNumbers(second.lines)).toEqual([3, 4, 5, 6, 7]);
  expect(second.last).toBe(7);
});

test("a buffer is the same object if nothing was logged", () => {
  const buffer = addLines(undefined, { logs: createLines(1, 2), last: 2 });
  expect(addLines(buffer, { logs: [], last: 2 })).toBe(buffer);
  // Lines of other levels were logged: reading goes on after them.
  const later = addLines(buffer, { logs: [], last: 9 });
  expect(later).toEqual({ lines: buffer.lines, last: 9 });
  expect(later.lines).toBe(buffer.lines);
});

test("only the latest lines are kept", () => {
  const full = addLines(undefined, { logs: createLines(1, maxBufferedLines), last: maxBufferedLines });
  const { lines } = addLines(full, { logs: createLines(maxBufferedLines + 1, maxBufferedLines + 3), last: 0xffff });
  expect(lines).toHaveLength(maxBufferedLines);
  expect([lines.at(0)?.seq, lines.at(-1)?.seq]).toEqual([4, maxBufferedLines + 3]);
});

test("long lines displace more of the oldest, but the latest stays", () => {
  const long = (seq: number, share: number) => createLine(seq, "x".repeat(share * maxBufferedChars));
  const buffer = addLines(undefined, { logs: [long(1, 0.3), long(2, 0.3), long(3, 0.3)], last: 3 });
  expect(listNumbers(buffer.lines)).toEqual([1, 2, 3]);
  expect(listNumbers(addLines(buffer, { logs: [long(4, 0.3)], last: 4 }).lines)).toEqual([2, 3, 4]);
  expect(listNumbers(addLines(buffer, { logs: [long(4, 2)], last: 4 }).lines)).toEqual([4]);
});

test("lines that came while the log was paused are counted", () => {
  const shown = createLines(1, 4);
  expect(countNewer(shown, shown)).toBe(0);
  expect(countNewer(createLines(1, 7), shown)).toBe(3);
  expect(countNewer(createLines(6, 7), shown)).toBe(2);
  expect(countNewer(createLines(1, 2), [])).toBe(2);
});

test("copied lines keep their breaks and no character that acts on a terminal", () => {
  expect(formatLines([createLine(1, "a\nb"), { ...createLine(2, "\u001b[31mred\u202e"), level: "error" }])).toBe(
    "2026-01-01T10:00:00.000Z info  a\nb\n2026-01-01T10:00:00.000Z error \u241b[31mred\ufffd\n",
  );
});
