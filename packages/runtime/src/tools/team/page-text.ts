import { truncateText } from "../../workspace/text/lines.ts";
import { createInputError } from "../files/file-tool.ts";
import { formatCount, maxOutputChars } from "../files/format.ts";

interface Page {
  /** The first line, starting at 1. */
  offset?: number | undefined;
  limit?: number | undefined;
}

/** Returns some lines of a text, as far as they fit into one result. Without a page, a short text is returned as it is. */
export function pageText(text: string, { offset = 1, limit = Number.POSITIVE_INFINITY }: Page): string {
  if (text === "") return "It is empty.";
  const from = Math.max(1, Math.floor(offset));
  if (from === 1 && limit === Number.POSITIVE_INFINITY && text.length <= maxOutputChars) return text;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (from > lines.length)
    throw createInputError(`It has ${formatCount(lines.length, "line")}; there is no line ${from}.`);
  const shown = selectLines(lines.slice(from - 1, from - 1 + Math.max(1, Math.floor(limit))));
  const last = from + shown.length - 1;
  if (from === 1 && last === lines.length) return shown.join("\n");
  const advice = last < lines.length ? `; continue with offset ${last + 1}` : "";
  return `${shown.join("\n")}\n[lines ${from}–${last} of ${lines.length}${advice}]`;
}

/** Returns the first lines that fit, at least one. */
function selectLines(lines: readonly string[]): string[] {
  let remainingChars = maxOutputChars;
  const shown: string[] = [];
  for (const line of lines) {
    if (shown.length > 0 && line.length > remainingChars) break;
    const isCut = line.length > maxOutputChars;
    shown.push(
      isCut ? `${truncateText(line, maxOutputChars)}… [${line.length - maxOutputChars} more characters]` : line,
    );
    remainingChars -= line.length + 1;
  }
  return shown;
}
