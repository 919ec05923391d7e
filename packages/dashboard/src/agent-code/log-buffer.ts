import type { AgentLogLine } from "@thinkery/sdk";
import { sanitizeText } from "../chat/call/sanitize-text.ts";

/** The latest lines of an agent's log, and where to read on. */
export interface LogBuffer {
  /** The same array as before if nothing was added. */
  lines: readonly AgentLogLine[];
  last: number;
}

export const maxBufferedLines = 2000;
/** A line may be long, and all of them are on the page. */
export const maxBufferedChars = 1_000_000;

/** Adds what was read after `buffer.last`. Drops the oldest lines beyond the limits, but never the latest. */
export function addLines(
  buffer: LogBuffer | undefined,
  { logs, last }: { logs: readonly AgentLogLine[]; last: number },
): LogBuffer {
  if (!buffer) return { lines: takeLatest(logs), last };
  const added = logs.filter(({ seq }) => seq > (buffer.lines.at(-1)?.seq ?? 0));
  if (added.length === 0) return last === buffer.last ? buffer : { ...buffer, last };
  return { lines: takeLatest([...buffer.lines, ...added]), last };
}

function takeLatest(lines: readonly AgentLogLine[]): readonly AgentLogLine[] {
  let chars = 0;
  const lastDropped = lines.findLastIndex(({ text }, index) => {
    chars += text.length;
    return index < lines.length - 1 && chars > maxBufferedChars;
  });
  return lines.slice(Math.max(lastDropped + 1, lines.length - maxBufferedLines, 0));
}

/** Counts the lines after those that are shown. */
export function countNewer(lines: readonly AgentLogLine[], shown: readonly AgentLogLine[]): number {
  const last = shown.at(-1)?.seq ?? 0;
  return lines.length - 1 - lines.findLastIndex(({ seq }) => seq <= last);
}

/** Formats lines for the clipboard, safe to paste into a terminal. */
export function formatLines(lines: readonly AgentLogLine[]): string {
  return lines.map(({ at, level, text }) => `${at} ${level.padEnd(5)} ${sanitizeText(text)}\n`).join("");
}
